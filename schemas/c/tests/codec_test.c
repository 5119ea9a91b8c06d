/* The codec as a library: messages that end at inaccessible memory, all byte orders and compressions, the limits. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <lifeline/batch_json.h>

enum { MAX_VECTORS = 1024, FENCED_BYTES = 1 << 20 };

typedef struct vector {
  char name[256];
  uint8_t *bytes;
  size_t size;
} vector;

static vector vectors[MAX_VECTORS];
static size_t vector_count;
static uint8_t *fence; /* an inaccessible page after FENCED_BYTES of memory */

static int load_vectors(void **state) {
  (void)state;
  DIR *directory = opendir(VECTORS "/valid");
  assert_non_null(directory);
  for (struct dirent *entry; (entry = readdir(directory));) {
    size_t length = strlen(entry->d_name);
    if (length < 4 || strcmp(entry->d_name + length - 4, ".llb") != 0) continue;
    vector *v = &vectors[vector_count++];
    char path[1024];
    snprintf(v->name, sizeof v->name, "%s", entry->d_name);
    snprintf(path, sizeof path, VECTORS "/valid/%s", entry->d_name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    v->bytes = malloc(LLB_MAX_BATCH_BYTES);
    v->size = fread(v->bytes, 1, LLB_MAX_BATCH_BYTES, file);
    fclose(file);
  }
  closedir(directory);
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uint8_t *memory = mmap(NULL, FENCED_BYTES + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(memory != MAP_FAILED);
  fence = memory + FENCED_BYTES;
  assert_int_equal(mprotect(fence, page, PROT_NONE), 0);
  return vector_count > 20 ? 0 : -1;
}

static int free_vectors(void **state) {
  (void)state;
  for (size_t i = 0; i < vector_count; i++)
    free(vectors[i].bytes);
  return 0;
}

/* Returns a copy of the message that ends at the fence: reading one byte too many kills the test. */
static const uint8_t *fenced(const void *bytes, size_t size) {
  return memcpy(fence - size, bytes, size);
}

static char *json_of(const llb_batch *batch) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  llb_json_print(batch, out);
  fclose(out);
  return text;
}

static void every_batch_is_read_without_a_look_behind_its_end(void **state) {
  (void)state;
  for (size_t i = 0; i < vector_count; i++) {
    llb_rejection rejection;
    llb_batch *batch = llb_read(fenced(vectors[i].bytes, vectors[i].size), vectors[i].size, &rejection);
    if (!batch) fail_msg("%s: %s", vectors[i].name, rejection.message);
    free(json_of(batch));
    llb_batch_free(batch);
  }
}

static void every_cut_is_rejected_as_truncated(void **state) {
  (void)state;
  for (size_t i = 0; i < vector_count; i++) {
    size_t step = vectors[i].size > 20000 ? 997 : 1;
    for (size_t size = 0; size < vectors[i].size; size += step) {
      llb_rejection rejection;
      assert_null(llb_read(fenced(vectors[i].bytes, size), size, &rejection));
      assert_int_equal(rejection.code, LLB_TRUNCATED);
      assert_in_range(rejection.offset, 0, size);
    }
  }
}

static void every_changed_byte_is_rejected(void **state) {
  (void)state;
  for (size_t i = 0; i < vector_count; i++) {
    size_t step = vectors[i].size > 20000 ? 9973 : 7;
    for (size_t at = 0; at < vectors[i].size; at += step) {
      llb_rejection rejection;
      vectors[i].bytes[at] ^= 0x10;
      assert_null(llb_read(fenced(vectors[i].bytes, vectors[i].size), vectors[i].size, &rejection));
      vectors[i].bytes[at] ^= 0x10;
    }
  }
}

/* Returns a separate batch with the same header, types and events. */
static llb_batch *copy_as(const llb_batch *from, bool big_endian, uint8_t compression, uint8_t shuffle) {
  llb_batch *to = llb_batch_new();
  assert_non_null(to);
  struct llb_private *priv = to->priv;
  *to = *from;
  to->priv = priv;
  to->big_endian = big_endian;
  to->compression = compression;
  to->shuffle = shuffle;
  to->events = (llb_bytes){NULL, 0};
  to->segments = llb_batch_alloc(to, from->segment_count * sizeof *to->segments);
  llb_cursor cursor = llb_events(from);
  llb_event event;
  for (size_t s = 0; s < from->segment_count; s++) {
    to->segments[s].thread = from->segments[s].thread;
    for (uint32_t n = 0; n < from->segments[s].events; n++) {
      llb_rejection rejection;
      assert_true(llb_next(&cursor, &event));
      assert_true(llb_append(to, &to->segments[s], event.type, event.tick, event.values, &rejection));
    }
  }
  assert_false(llb_next(&cursor, &event));
  return to;
}

/* Skips the three storage settings, which differ on purpose. */
static const char *meaning(const char *json) {
  return strstr(json, "\"flags\"");
}

static void every_order_and_compression_means_the_same(void **state) {
  (void)state;
  static const uint8_t shuffles[] = {0, 8, 24, 128, 9, 129};
  for (size_t i = 0; i < vector_count; i++) {
    llb_rejection rejection;
    llb_batch *batch = llb_read(vectors[i].bytes, vectors[i].size, &rejection);
    char *expected = json_of(batch);
    for (unsigned way = 0; way < 2 * 3 * sizeof shuffles; way++) {
      uint8_t compression = (uint8_t)(way / 2 % 3), shuffle = compression ? shuffles[way / 6] : 0;
      llb_batch *copy = copy_as(batch, way % 2, compression, shuffle);
      size_t size;
      uint8_t *bytes = llb_write(copy, &size, &rejection);
      if (bytes) {
        llb_batch *again = llb_read(fenced(bytes, size), size, &rejection);
        assert_non_null(again);
        char *found = json_of(again);
        assert_string_equal(meaning(found), meaning(expected));
        free(found);
        llb_batch_free(again);
      } else {
        assert_int_equal(rejection.code, LLB_TOO_LARGE); /* the largest batches only fit compressed */
        assert_true(vectors[i].size > 900000 || batch->compression != LLB_PLAIN);
      }
      free(bytes);
      llb_batch_free(copy);
    }
    free(expected);
    llb_batch_free(batch);
  }
}

static void json_comes_back_as_the_same_json(void **state) {
  (void)state;
  for (size_t i = 0; i < vector_count; i++) {
    llb_rejection rejection;
    size_t size;
    llb_batch *batch = llb_read(vectors[i].bytes, vectors[i].size, &rejection);
    char *json = json_of(batch);
    llb_batch_free(batch);
    if (!strstr(json, "\xef\xbf\xbd")) { /* invalid UTF-8 cannot be encoded back */
      llb_batch *parsed = llb_json_parse(json, strlen(json), &rejection);
      if (!parsed) fail_msg("%s: %s", vectors[i].name, rejection.message);
      uint8_t *bytes = llb_write(parsed, &size, &rejection);
      if (!bytes) fail_msg("%s: %s", vectors[i].name, rejection.message);
      llb_batch *again = llb_read(bytes, size, &rejection);
      char *found = json_of(again);
      assert_string_equal(found, json);
      free(found);
      llb_batch_free(again);
      free(bytes);
      llb_batch_free(parsed);
    }
    free(json);
  }
}

static void concatenated_batches_are_framed_by_their_length(void **state) {
  (void)state;
  assert_int_equal(llb_frame_bytes(vectors[0].bytes, vectors[0].size), vectors[0].size);
  assert_int_equal(llb_frame_bytes(vectors[0].bytes, 100), vectors[0].size);
  assert_int_equal(llb_frame_bytes(vectors[0].bytes, 99), 0);
  assert_int_equal(llb_frame_bytes("no batch at all", 15), 0);
}

static void a_record_of_32768_bytes_is_the_largest(void **state) {
  (void)state;
  static const uint8_t content[LLB_MAX_RECORD_BYTES];
  llb_field field = {LLB_BYTES, {(const uint8_t *)"b", 1}, {NULL, 0}};
  llb_event_type type = {.number = 1, .level = 4, .field_count = 1, .fields = &field};
  llb_segment segment = {0};
  llb_batch *batch = llb_batch_new();
  llb_rejection rejection;
  llb_value value = {.bytes = {content, LLB_MAX_RECORD_BYTES - 10}};
  assert_true(llb_append(batch, &segment, &type, 0, &value, &rejection));
  assert_int_equal(segment.bytes, LLB_MAX_RECORD_BYTES);
  value.bytes.size++;
  assert_false(llb_append(batch, &segment, &type, 0, &value, &rejection));
  assert_int_equal(rejection.code, LLB_BAD_RECORD);
  for (unsigned i = 1; i < 32; i++) {
    value.bytes.size = LLB_MAX_RECORD_BYTES - 10;
    assert_true(llb_append(batch, &segment, &type, 0, &value, &rejection));
  }
  value.bytes.size = 0;
  assert_false(llb_append(batch, &segment, &type, 0, &value, &rejection));
  assert_int_equal(rejection.code, LLB_TOO_LARGE);
  llb_batch_free(batch);
}

static void a_tick_beyond_the_reach_of_48_bits_is_refused(void **state) {
  (void)state;
  const uint64_t base = 1000, reach = (uint64_t)1 << 47;
  assert_int_equal(llb_full_tick(base, (base + reach - 1) & 0xffffffffffff), base + reach - 1);
  assert_int_equal(llb_full_tick(base, (base - reach) & 0xffffffffffff), base - reach);
  llb_event_type type = {.number = 1, .level = 4};
  llb_segment segment = {0};
  llb_batch *batch = llb_batch_new();
  llb_rejection rejection;
  batch->base_tick = base;
  assert_true(llb_append(batch, &segment, &type, base + reach - 1, NULL, &rejection));
  assert_false(llb_append(batch, &segment, &type, base + reach, NULL, &rejection));
  llb_batch_free(batch);
}

static void json_controls_no_terminal(void **state) {
  (void)state;
  static const uint8_t name[] = "a\xc2\x9b\xe2\x80\xae\0\x7f\"";
  llb_rejection rejection;
  llb_batch *batch = llb_read(vectors[0].bytes, vectors[0].size, &rejection);
  assert_non_null(batch);
  batch->program = (llb_bytes){name, sizeof name - 1};
  char *json = json_of(batch);
  assert_non_null(strstr(json, "\"a\\u009b\\u202e\\u0000\\u007f\\\"\""));
  free(json);
  llb_batch_free(batch);
}

static void broken_json_is_refused_with_a_sentence(void **state) {
  (void)state;
  static const char *const texts[] = {
      "", "[]", "{", "{}", "{\"version\":2}", "{\"version\":1,\"version\":1}", "\"", "1e999", "{\"version\":1.5}"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    llb_rejection rejection = {0};
    assert_null(llb_json_parse(texts[i], strlen(texts[i]), &rejection));
    assert_int_equal(rejection.code, LLB_BAD_JSON);
    assert_true(strlen(rejection.message) > 10);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_batch_is_read_without_a_look_behind_its_end),
      cmocka_unit_test(every_cut_is_rejected_as_truncated),
      cmocka_unit_test(every_changed_byte_is_rejected),
      cmocka_unit_test(every_order_and_compression_means_the_same),
      cmocka_unit_test(json_comes_back_as_the_same_json),
      cmocka_unit_test(concatenated_batches_are_framed_by_their_length),
      cmocka_unit_test(a_record_of_32768_bytes_is_the_largest),
      cmocka_unit_test(a_tick_beyond_the_reach_of_48_bits_is_refused),
      cmocka_unit_test(json_controls_no_terminal),
      cmocka_unit_test(broken_json_is_refused_with_a_sentence),
  };
  return cmocka_run_group_tests_name("codec c", tests, load_vectors, free_vectors);
}
