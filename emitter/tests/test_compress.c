/* Compression: how the records of a batch are arranged, and what comes of it. */
#include "support.h"

#include "batch/compress.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void records_that_do_not_shrink_stay_as_they_are(void **state) {
  (void)state;
  char why[256];
  static uint8_t records[4096], out[4096];
  unsigned seed = 3;
  for (size_t i = 0; i < sizeof records; i++)
    records[i] = (uint8_t)rand_r(&seed);
  ll_compressor *compressor = ll_compressor_create("auto", why, sizeof why);
  ll_piece pieces[] = {{records, 1600}, {records + 1600, sizeof records - 1600}};
  ll_packed packed = ll_compress(compressor, &(ll_records){pieces, 2, 16, sizeof records}, out);
  assert_int_equal(packed.compression, LL_COMPRESSION_NONE);
  assert_int_equal(packed.shuffle, 0);
  assert_int_equal(packed.bytes, sizeof records);
  assert_memory_equal(out, records, sizeof records);
  ll_compressor_free(compressor);
}

typedef int (*lz4_decompress)(const char *from, char *to, int from_bytes, int to_bytes);

/* Compresses records of all lengths in three pieces, with rows left over after the runs and tiles that are transposed
 * at once. `check` gets what the library compressed. */
static void each_length(void (*fill)(uint8_t *records, uint32_t length, uint32_t rows), unsigned differences,
                        void (*check)(const uint8_t *flat, const uint8_t *records, uint32_t length, uint32_t rows)) {
  char why[256];
  static uint8_t records[80000], packed[80000], flat[80000];
  void *library = dlopen("liblz4.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) skip();
  lz4_decompress decompress = (lz4_decompress)dlsym(library, "LZ4_decompress_safe");
  for (uint32_t length = 8; length <= 128; length += 8)
    for (uint32_t rows = 60; rows <= 600; rows += 45) {
      size_t bytes = (size_t)rows * length, first = (size_t)length * (rows / 7), second = (size_t)length * (rows / 2);
      ll_piece pieces[] = {
          {records, first}, {records + first, second}, {records + first + second, bytes - first - second}};
      fill(records, length, rows);
      ll_compressor *compressor = ll_compressor_create("lz4", why, sizeof why);
      ll_packed result = ll_compress(compressor, &(ll_records){pieces, 3, length, bytes}, packed);
      assert_int_equal(result.compression, LL_COMPRESSION_LZ4);
      assert_int_equal(result.shuffle, length + differences);
      assert_int_equal(decompress((char *)packed, (char *)flat, (int)result.bytes, sizeof flat), bytes);
      check(flat, records, length, rows);
      /* The next batch has records of several lengths, until the next trial. */
      result = ll_compress(compressor, &(ll_records){pieces, 3, 0, bytes}, packed);
      assert_int_equal(result.shuffle, 8);
      ll_compressor_free(compressor);
    }
  dlclose(library);
}

/* Every second byte compresses better when shuffled. */
static void put_noise(uint8_t *records, uint32_t length, uint32_t rows) {
  unsigned seed = length + rows;
  for (size_t i = 0; i < (size_t)rows * length; i++)
    records[i] = i % 2 != 0 ? (uint8_t)(i % length) : (uint8_t)rand_r(&seed);
}

static void check_places(const uint8_t *flat, const uint8_t *records, uint32_t length, uint32_t rows) {
  for (size_t row = 0; row < rows; row++)
    for (size_t column = 0; column < length; column++)
      assert_int_equal(flat[column * rows + row], records[row * length + column]);
}

static void shuffled_records_are_where_the_format_says(void **state) {
  (void)state;
  each_length(put_noise, 0, check_places);
}

/* Ticks that regularly rise, but for another thread's from a half on; two types. */
static void put_events(uint8_t *records, uint32_t length, uint32_t rows) {
  memset(records, 0, (size_t)rows * length);
  for (uint64_t row = 0; row < rows; row++) {
    uint64_t tick = row < rows / 2 ? 0xffffffffff00 + 37 * row : 0xfffffffffe00 + 37 * (row - rows / 2);
    uint64_t word = tick << 16 | (row % 2 + 1);
    memcpy(records + row * length, &word, sizeof word);
  }
}

/* FORMAT.md, section 8, step 1. */
static void restore_ticks(uint8_t *rows, uint32_t length, uint32_t count) {
  uint64_t before = 0;
  for (uint32_t row = 0; row < count; row++) {
    uint64_t word;
    memcpy(&word, rows + (size_t)row * length, sizeof word);
    before = word + (before & ~UINT64_C(0xffff));
    memcpy(rows + (size_t)row * length, &before, sizeof before);
  }
}

static void unshuffle(const uint8_t *from, uint8_t *to, uint32_t length, uint32_t rows) {
  for (size_t row = 0; row < rows; row++)
    for (size_t column = 0; column < length; column++)
      to[row * length + column] = from[column * rows + row];
}

static void check_ticks(const uint8_t *flat, const uint8_t *records, uint32_t length, uint32_t rows) {
  static uint8_t back[80000];
  unshuffle(flat, back, length, rows);
  restore_ticks(back, length, rows);
  assert_memory_equal(back, records, (size_t)rows * length);
}

static void ticks_of_equally_long_records_are_stored_as_differences(void **state) {
  (void)state;
  each_length(put_events, 1, check_ticks);
}

static void no_ticks_are_differences_for_readers_of_earlier_builds(void **state) {
  (void)state;
  char why[256];
  enum { LENGTH = 16, ROWS = 1000 };
  static uint8_t records[LENGTH * ROWS], out[LENGTH * ROWS];
  put_events(records, LENGTH, ROWS);
  ll_compressor *compressor = ll_compressor_create(LL_COMPRESSION_COMPATIBLE, why, sizeof why);
  if (ll_compressor_is_idle(compressor, sizeof records)) skip();
  ll_records all = {&(ll_piece){records, sizeof records}, 1, LENGTH, sizeof records};
  ll_packed packed = ll_compress(compressor, &all, out);
  assert_int_not_equal(packed.compression, LL_COMPRESSION_NONE);
  assert_int_equal(packed.shuffle, LENGTH);
  ll_compressor_free(compressor);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(records_that_do_not_shrink_stay_as_they_are),
      cmocka_unit_test(shuffled_records_are_where_the_format_says),
      cmocka_unit_test(ticks_of_equally_long_records_are_stored_as_differences),
      cmocka_unit_test(no_ticks_are_differences_for_readers_of_earlier_builds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
