#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lifeline/batch_json.h>

#include "json_names.h"

static void print_escaped(uint32_t c, FILE *out) {
  switch (c) {
  case '"': fputs("\\\"", out); break;
  case '\\': fputs("\\\\", out); break;
  case '\n': fputs("\\n", out); break;
  case '\t': fputs("\\t", out); break;
  default: fprintf(out, "\\u%04" PRIx32, c);
  }
}

/* What would control a terminal is escaped. Invalid UTF-8 becomes U+FFFD; only records' strings may contain it. */
static void print_text(llb_bytes text, FILE *out) {
  putc('"', out);
  for (size_t at = 0, length; at < text.size; at += length) {
    length = llb_utf8_length(text.data + at, text.size - at);
    uint8_t lead = text.data[at];
    if (length == 0) {
      fputs("\xef\xbf\xbd", out);
      length = 1;
    } else if (lead == '"' || lead == '\\') {
      print_escaped(lead, out);
    } else if (lead == 0 || llb_harmful(text.data + at, length) > 0) {
      print_escaped(llb_harmful(text.data + at, length), out);
    } else {
      fwrite(text.data + at, 1, length, out);
    }
  }
  putc('"', out);
}

static void print_hex(const uint8_t *bytes, size_t size, FILE *out) {
  putc('"', out);
  for (size_t i = 0; i < size; i++)
    fprintf(out, "%02x", bytes[i]);
  putc('"', out);
}

/* Prints the fewest digits that read back as the same double. An f32 is printed as the equal double. */
static void print_finite(double value, FILE *out) {
  char text[32];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value) break;
  }
  fputs(text, out);
}

static void print_special(double value, FILE *out) {
  fputs(value == 0 ? "\"-0\"" : value > 0 ? "\"inf\"" : "\"-inf\"", out);
}

static bool special(double value) {
  return !isfinite(value) || (value == 0 && signbit(value));
}

static void print_f32(float value, FILE *out) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (isnan(value))
    fprintf(out, "\"nan:%08" PRIx32 "\"", bits);
  else if (special((double)value))
    print_special((double)value, out);
  else
    print_finite((double)value, out);
}

static void print_f64(double value, FILE *out) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (isnan(value))
    fprintf(out, "\"nan:%016" PRIx64 "\"", bits);
  else if (special(value))
    print_special(value, out);
  else
    print_finite(value, out);
}

static void print_value(uint8_t type, const llb_value *value, FILE *out) {
  switch (type) {
  case LLB_I32: fprintf(out, "%" PRId32, value->i32); break;
  case LLB_I64: fprintf(out, "\"%" PRId64 "\"", value->i64); break;
  case LLB_F32: print_f32(value->f32, out); break;
  case LLB_F64: print_f64(value->f64, out); break;
  case LLB_STRING: print_text(value->bytes, out); break;
  case LLB_U32: fprintf(out, "%" PRIu32, value->u32); break;
  case LLB_U64: fprintf(out, "\"%" PRIu64 "\"", value->u64); break;
  case LLB_BOOL: fputs(value->boolean ? "true" : "false", out); break;
  case LLB_BYTES: print_hex(value->bytes.data, value->bytes.size, out); break;
  }
}

static const char *comma(size_t index) {
  return index ? "," : "";
}

static void print_u64(const char *key, uint64_t value, FILE *out) {
  fprintf(out, ",\"%s\":\"%" PRIu64 "\"", key, value);
}

static void print_named_text(const char *key, llb_bytes text, FILE *out) {
  fprintf(out, ",\"%s\":", key);
  print_text(text, out);
}

static void print_flags(uint32_t flags, FILE *out) {
  fputs(",\"flags\":[", out);
  bool first = true;
  for (size_t i = 0; i < FLAG_NAMES; i++)
    if (flags >> i & 1) {
      fprintf(out, "%s\"%s\"", comma(!first), flag_names[i]);
      first = false;
    }
  putc(']', out);
}

static void print_header(const llb_batch *batch, FILE *out) {
  fprintf(out, "{\"version\":1,\"byte_order\":\"%s\",\"compression\":\"%s\",\"shuffle\":%u",
          batch->big_endian ? "big" : "little", compression_names[batch->compression], batch->shuffle);
  print_flags(batch->flags, out);
  fputs(",\"incarnation\":", out);
  print_hex(batch->incarnation, sizeof batch->incarnation, out);
  print_u64("sequence", batch->sequence, out);
  print_u64("base_tick", batch->base_tick, out);
  print_u64("tick_hz", batch->tick_hz, out);
  fprintf(out, ",\"clock\":\"%s\",\"pid\":%" PRIu32 ",\"route\":%u", clock_names[batch->clock], batch->pid,
          batch->route);
  print_named_text("route_name", batch->route_name, out);
  print_named_text("host", batch->host, out);
  print_named_text("program", batch->program, out);
  fputs(",\"counters\":[", out);
  for (size_t i = 0; i < batch->counter_count; i++)
    fprintf(out, "%s\"%" PRIu64 "\"", comma(i), batch->counters[i]);
  fputs("],\"calibrations\":[", out);
  for (size_t i = 0; i < batch->calibration_count; i++) {
    const llb_calibration *c = &batch->calibrations[i];
    fprintf(out,
            "%s{\"tick\":\"%" PRIu64 "\",\"monotonic_ns\":\"%" PRIu64 "\",\"realtime_offset_ns\":\"%" PRId64
            "\",\"error_ns\":%" PRIu32 ",\"step\":%s}",
            comma(i), c->tick, c->monotonic_ns, c->realtime_offset_ns, c->error_ns, c->step ? "true" : "false");
  }
  fputs("],\"segments\":[", out);
  for (size_t i = 0; i < batch->segment_count; i++)
    fprintf(out, "%s{\"thread\":\"%" PRIu64 "\",\"events\":%" PRIu32 "}", comma(i), batch->segments[i].thread,
            batch->segments[i].events);
  putc(']', out);
  if (batch->flags & LLB_DERIVED) {
    fputs(",\"parent\":{\"incarnation\":", out);
    print_hex(batch->parent.incarnation, sizeof batch->parent.incarnation, out);
    print_u64("sequence", batch->parent.sequence, out);
    fprintf(out, ",\"route\":%u,\"events_in\":%" PRIu32 ",\"events_out\":%" PRIu32 "}", batch->parent.route,
            batch->parent.events_in, batch->parent.events_out);
  }
  fputs(",\"context\":[", out);
  for (size_t i = 0; i < batch->context_count; i++) {
    fprintf(out, "%s[", comma(i));
    print_text(batch->context[i].key, out);
    putc(',', out);
    print_text(batch->context[i].value, out);
    putc(']', out);
  }
  putc(']', out);
}

static void print_field(const llb_field *field, FILE *out) {
  fprintf(out, "{\"type\":\"%s\"", type_names[field->type]);
  print_named_text("name", field->name, out);
  print_named_text("unit", field->unit, out);
}

static void print_type(const llb_event_type *type, FILE *out) {
  fprintf(out, "{\"number\":%u,\"hash\":\"%016" PRIx64 "\",\"level\":\"%s\"", type->number, type->hash,
          level_names[type->level]);
  print_named_text("name", type->name, out);
  fputs(",\"fields\":[", out);
  for (size_t i = 0; i < type->field_count; i++) {
    fputs(comma(i), out);
    print_field(&type->fields[i], out);
    putc('}', out);
  }
  fputs("],\"constants\":[", out);
  for (size_t i = 0; i < type->constant_count; i++) {
    fputs(comma(i), out);
    print_field(&type->constants[i].field, out);
    fputs(",\"value\":", out);
    print_value(type->constants[i].field.type, &type->constants[i].value, out);
    putc('}', out);
  }
  fputs("]}", out);
}

static void print_event(const llb_event *event, FILE *out) {
  fprintf(out, "{\"type\":%u,\"tick\":\"%" PRIu64 "\",\"time_ns\":\"%" PRId64 "\",\"fields\":[", event->type->number,
          event->tick, event->time_ns);
  for (size_t i = 0; i < event->type->field_count; i++) {
    fputs(comma(i), out);
    print_value(event->type->fields[i].type, &event->values[i], out);
  }
  fputs("]}", out);
}

void llb_json_print(const llb_batch *batch, FILE *out) {
  print_header(batch, out);
  fputs(",\"types\":[", out);
  for (size_t i = 0; i < batch->type_count; i++) {
    fputs(comma(i), out);
    print_type(&batch->types[i], out);
  }
  fputs("],\"events\":[", out);
  llb_cursor cursor = llb_events(batch);
  llb_event event;
  for (size_t i = 0; llb_next(&cursor, &event); i++) {
    fputs(comma(i), out);
    print_event(&event, out);
  }
  fputs("]}", out);
}

void llb_json_print_rejection(const llb_rejection *rejection, FILE *out) {
  fprintf(out, "{\"rejected\":\"%s\",\"offset\":%zu,\"message\":", llb_code_name(rejection->code), rejection->offset);
  print_text((llb_bytes){(const uint8_t *)rejection->message, strlen(rejection->message)}, out);
  putc('}', out);
}
