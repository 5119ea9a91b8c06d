#include "print.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum type_state { TYPE_NEW, TYPE_WANTED, TYPE_UNWANTED } type_state;

struct type_text {
  type_state state;
  llb_bytes head;   /* text after the time */
  llb_bytes tail;   /* JSON: before event_index; BP: before the thread */
  llb_bytes *names; /* of constants, then fields, each with its separators, as printed before the value */
};

static const char *const levels[] = {"", "fatal", "error", "warn", "info", "debug", "debug1", "debug2", "debug3"};
static const char *const bp_levels[] = {"", "Fatal", "Error", "Warn", "Info", "Debug", "Debug1", "Debug2", "Debug3"};
/* ULM defines its own levels; info, the level of normal operation, is Usage. */
static const char *const ulm_levels[] = {"",      "Emergency", "Error", "Warning", "Usage",
                                         "Debug", "Debug",     "Debug", "Debug"};

/* Names used by every line. A field with such a name, or with one followed by underscores, gets another underscore. */
static const char *const json_names[] = {"ts",       "ts_ns",       "type",       "level",       "host",
                                         "program",  "pid",         "thread",     "incarnation", "route",
                                         "sequence", "event_index", "non_finite", NULL};
static const char *const bp_names[] = {"ts", "event", "level", "host", "prog", "pid", "tid", NULL};
static const char *const ulm_names[] = {"DATE", "HOST", "PROG", "LVL", "NL.EVNT", NULL};

static bool is_one_of(llb_bytes name, const char *const *names) {
  for (; *names; names++) {
    size_t size = strlen(*names), at = size;
    while (at < name.size && name.data[at] == '_')
      at++;
    if (at == name.size && memcmp(*names, name.data, size) == 0) return true;
  }
  return false;
}

/* --- BP and ULM --- */

static bool needs_no_quotes(llb_bytes text) {
  for (size_t i = 0; i < text.size; i++) {
    uint8_t c = text.data[i];
    if (c <= ' ' || c >= 0x7f || c == '"' || c == '=' || c == '\\' || c == '\'') return false;
  }
  return text.size > 0;
}

/* A quoted value is a JSON string, whose end old readers find, too. */
static void put_value(out *to, llb_bytes text) {
  if (needs_no_quotes(text))
    out_bytes(to, text.data, text.size);
  else
    out_json_text(to, text);
}

static void put_name(out *to, llb_bytes name, const char *const *taken) {
  for (size_t i = 0; i < name.size; i++) {
    char c = (char)name.data[i];
    bool legal =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
    out_char(to, legal ? c : '_');
  }
  if (is_one_of(name, taken)) out_char(to, '_');
}

/* --- text shared by events --- */

static void write_head(out *to, format as, const llb_batch *batch, const llb_event_type *type) {
  switch (as) {
  case FORMAT_JSON:
    out_word(to, ",\"type\":");
    out_json_text(to, type->name);
    out_word(to, ",\"level\":\"");
    out_word(to, levels[type->level]);
    out_word(to, "\",\"host\":");
    out_json_text(to, batch->host);
    out_word(to, ",\"program\":");
    out_json_text(to, batch->program);
    out_word(to, ",\"pid\":");
    out_u64(to, batch->pid);
    out_word(to, ",\"thread\":");
    break;
  case FORMAT_BP:
    out_word(to, " event=");
    put_value(to, type->name);
    out_word(to, " level=");
    out_word(to, bp_levels[type->level]);
    break;
  default:
    out_word(to, " HOST=");
    put_value(to, batch->host);
    out_word(to, " PROG=");
    put_value(to, batch->program);
    out_word(to, " LVL=");
    out_word(to, ulm_levels[type->level]);
    out_word(to, " NL.EVNT=");
    put_value(to, type->name);
  }
}

static void write_tail(out *to, format as, const llb_batch *batch) {
  if (as == FORMAT_JSON) {
    out_word(to, ",\"incarnation\":\"");
    out_hex(to, batch->incarnation, sizeof batch->incarnation);
    out_word(to, "\",\"route\":");
    out_u64(to, batch->route);
    out_word(to, ",\"sequence\":");
    out_u64(to, batch->sequence);
    out_word(to, ",\"event_index\":");
  } else if (as == FORMAT_BP) {
    out_word(to, " host=");
    put_value(to, batch->host);
    out_word(to, " prog=");
    put_value(to, batch->program);
    out_word(to, " pid=");
    out_u64(to, batch->pid);
    out_word(to, " tid=");
  }
}

static void write_name(out *to, format as, llb_bytes name) {
  if (as == FORMAT_JSON) {
    out_char(to, ',');
    out_json_text(to, name);
    if (is_one_of(name, json_names)) to->used--, out_word(to, "_\"");
    out_char(to, ':');
  } else {
    out_char(to, ' ');
    put_name(to, name, as == FORMAT_BP ? bp_names : ulm_names);
    out_char(to, '=');
  }
}

/* Holds each text written in one piece: a name has at most 255 bytes, a host 4,096. */
static out scratch = {.fd = -1};

/* Moves the scratch text into the batch's memory. Empty if out of memory. */
static llb_bytes keep(llb_batch *batch) {
  uint8_t *kept = llb_batch_alloc(batch, scratch.used);
  llb_bytes text = {kept, kept ? scratch.used : 0};
  if (kept) memcpy(kept, scratch.bytes, scratch.used);
  scratch.used = 0;
  return text;
}

/* Names of the types that no glob of --type matches, each in quotes, until one does. */
static struct {
  bool any_matches, incomplete;
  char names[400];
} unmatched;

static void remember_unmatched(const char *name) {
  char quoted[260];
  snprintf(quoted, sizeof quoted, "'%s'", name);
  for (char *c = quoted; *c; c++) /* it goes to a terminal */
    if (*c < ' ' || *c > '~') *c = '?';
  size_t used = strlen(unmatched.names);
  if (strstr(unmatched.names, quoted) != NULL) return;
  if (used + 2 + strlen(quoted) >= sizeof unmatched.names)
    unmatched.incomplete = true;
  else
    snprintf(unmatched.names + used, sizeof unmatched.names - used, "%s%s", used > 0 ? ", " : "", quoted);
}

const char *print_unmatched(bool *incomplete) {
  *incomplete = unmatched.incomplete;
  return unmatched.any_matches || unmatched.names[0] == '\0' ? NULL : unmatched.names;
}

static bool matches_a_type(const wanted *filter, const llb_event_type *type) {
  if (!filter->types) return true;
  char name[256]; /* a UTF-8 name may contain a zero, which ends it for fnmatch */
  memcpy(name, type->name.data, type->name.size);
  name[type->name.size] = '\0';
  for (const char *const *glob = filter->types; *glob; glob++)
    if (fnmatch(*glob, name, 0) == 0) return unmatched.any_matches = true;
  if (!unmatched.any_matches) remember_unmatched(name);
  return false;
}

static bool is_wanted(const wanted *filter, const llb_event_type *type) {
  return matches_a_type(filter, type) && type->level <= filter->level;
}

static bool matches(const char *glob, llb_bytes text) {
  if (!glob) return true;
  char name[4097];
  memcpy(name, text.data, text.size);
  name[text.size] = '\0';
  return fnmatch(glob, name, 0) == 0;
}

static void make_text(type_text *text, format as, const wanted *filter, llb_batch *batch, const llb_event_type *type) {
  text->state = TYPE_UNWANTED;
  if (!is_wanted(filter, type) || !matches(filter->program, batch->program) || !matches(filter->host, batch->host))
    return;
  size_t count = (size_t)type->constant_count + type->field_count;
  text->names = llb_batch_alloc(batch, count * sizeof *text->names);
  if (!text->names) abort(); /* the allocation is tiny */
  write_head(&scratch, as, batch, type);
  text->head = keep(batch);
  write_tail(&scratch, as, batch);
  text->tail = keep(batch);
  for (size_t i = 0; i < count; i++) {
    bool constant = i < type->constant_count;
    write_name(&scratch, as, constant ? type->constants[i].field.name : type->fields[i - type->constant_count].name);
    text->names[i] = keep(batch);
  }
  text->state = TYPE_WANTED;
}

/* --- text of single events --- */

static const char *word_for(double value) {
  return isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

static double as_double(uint8_t type, const llb_value *value) {
  return type == LLB_F32 ? (double)value->f32 : value->f64;
}

static bool is_non_finite(uint8_t type, const llb_value *value) {
  return (type == LLB_F32 || type == LLB_F64) && !isfinite(as_double(type, value));
}

static void put(out *to, format as, uint8_t type, const llb_value *value) {
  if (is_non_finite(type, value)) {
    out_word(to, as == FORMAT_JSON ? "null" : word_for(as_double(type, value)));
    return;
  }
  switch (type) {
  case LLB_I32: out_i64(to, value->i32); break;
  case LLB_I64: out_i64(to, value->i64); break;
  case LLB_U32: out_u64(to, value->u32); break;
  case LLB_U64: out_u64(to, value->u64); break;
  case LLB_F32: out_f32(to, value->f32); break;
  case LLB_F64: out_f64(to, value->f64); break;
  case LLB_BOOL: out_word(to, value->boolean ? "true" : "false"); break;
  case LLB_STRING:
    if (as == FORMAT_JSON)
      out_json_text(to, value->bytes);
    else
      put_value(to, value->bytes);
    break;
  default:
    if (as == FORMAT_JSON || value->bytes.size == 0) out_char(to, '"');
    out_hex(to, value->bytes.data, value->bytes.size);
    if (as == FORMAT_JSON || value->bytes.size == 0) out_char(to, '"');
  }
}

static void put_all(out *to, format as, const type_text *text, const llb_event *event) {
  const llb_event_type *type = event->type;
  const llb_bytes *name = text->names;
  for (size_t i = 0; i < type->constant_count; i++, name++) {
    out_bytes(to, name->data, name->size);
    put(to, as, type->constants[i].field.type, &type->constants[i].value);
  }
  for (size_t i = 0; i < type->field_count; i++, name++) {
    out_bytes(to, name->data, name->size);
    put(to, as, type->fields[i].type, &event->values[i]);
  }
}

/* JSON has no NaN and no infinities: such fields are null, and non_finite names their values. */
static void put_non_finite(out *to, const type_text *text, const llb_event *event) {
  const llb_event_type *type = event->type;
  size_t count = (size_t)type->constant_count + type->field_count, found = 0;
  for (size_t i = 0; i < count; i++) {
    bool constant = i < type->constant_count;
    const llb_field *field = constant ? &type->constants[i].field : &type->fields[i - type->constant_count];
    const llb_value *value = constant ? &type->constants[i].value : &event->values[i - type->constant_count];
    if (!is_non_finite(field->type, value)) continue;
    out_word(to, found++ == 0 ? ",\"non_finite\":{" : ",");
    out_bytes(to, text->names[i].data + 1, text->names[i].size - 1); /* without its comma */
    out_char(to, '"');
    out_word(to, word_for(as_double(field->type, value)));
    out_char(to, '"');
  }
  if (found > 0) out_char(to, '}');
}

static void print_json(out *to, const type_text *text, const ordered_event *at, const llb_event *event) {
  out_bytes(to, "{\"ts\":\"", 7);
  out_iso_time(to, at->time_ns, 9);
  out_bytes(to, "\",\"ts_ns\":", 10);
  out_i64(to, at->time_ns);
  out_bytes(to, text->head.data, text->head.size);
  out_u64(to, event->thread);
  out_bytes(to, text->tail.data, text->tail.size);
  out_u64(to, at->index);
  put_all(to, FORMAT_JSON, text, event);
  put_non_finite(to, text, event);
  out_bytes(to, "}\n", 2);
}

static void print_bp(out *to, const type_text *text, const ordered_event *at, const llb_event *event) {
  out_bytes(to, "ts=", 3);
  out_iso_time(to, at->time_ns, 6);
  out_bytes(to, text->head.data, text->head.size);
  put_all(to, FORMAT_BP, text, event);
  out_bytes(to, text->tail.data, text->tail.size);
  out_u64(to, event->thread);
  out_char(to, '\n');
}

static void print_ulm(out *to, const type_text *text, const ordered_event *at, const llb_event *event) {
  out_bytes(to, "DATE=", 5);
  out_ulm_time(to, at->time_ns);
  out_bytes(to, text->head.data, text->head.size);
  put_all(to, FORMAT_ULM, text, event);
  out_char(to, '\n');
}

void print_event(out *to, format as, const wanted *filter, ordered *batch, const ordered_event *at) {
  static llb_event event; /* large */
  if (as == FORMAT_NONE || at->time_ns < filter->since_ns || at->time_ns > filter->last_ns) return;
  ordered_values(batch, at, &event);
  llb_batch *of = batch->from.batch;
  if (!batch->type_text) batch->type_text = calloc(of->type_count, sizeof *batch->type_text);
  if (!batch->type_text) abort();
  type_text *text = &batch->type_text[event.type - of->types];
  if (text->state == TYPE_NEW) make_text(text, as, filter, of, event.type);
  if (text->state == TYPE_UNWANTED) return;
  switch (as) {
  case FORMAT_JSON: print_json(to, text, at, &event); break;
  case FORMAT_BP: print_bp(to, text, at, &event); break;
  default: print_ulm(to, text, at, &event);
  }
}
