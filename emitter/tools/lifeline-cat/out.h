/* Buffered standard output of numbers and texts.
 *
 * Errors are sticky: after the first one all output is discarded. The program checks for an error at its end.
 */
#ifndef LIFELINE_CAT_OUT_H
#define LIFELINE_CAT_OUT_H

#include <lifeline/batch.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { OUT_BYTES = 256 << 10, OUT_NUMBER_MAX = 32 };

typedef struct out {
  int fd;
  int error; /* errno of the write that failed, or 0 */
  size_t used;
  char bytes[OUT_BYTES];
} out;

void out_flush(out *to);

/* Returns room for this many more bytes, at most OUT_BYTES. */
static inline char *out_room(out *to, size_t bytes) {
  if (to->used + bytes > OUT_BYTES) out_flush(to);
  return to->bytes + to->used;
}

static inline void out_char(out *to, char c) {
  *out_room(to, 1) = c;
  to->used++;
}

void out_bytes(out *to, const void *bytes, size_t size);

static inline void out_word(out *to, const char *word) {
  out_bytes(to, word, strlen(word));
}

void out_u64(out *to, uint64_t value);
void out_i64(out *to, int64_t value);
void out_hex(out *to, const uint8_t *bytes, size_t size);

/* Print finite values with the fewest digits that read back as the same value. */
void out_f64(out *to, double value);
void out_f32(out *to, float value);

/* Prints a JSON string, with harmful characters escaped. Invalid UTF-8 becomes U+FFFD. */
void out_json_text(out *to, llb_bytes text);

/* `2026-11-21T05:19:00.123456789Z` with this number of decimals, truncated. */
void out_iso_time(out *to, int64_t ns, int digits);

/* `20261121051900.123456` */
void out_ulm_time(out *to, int64_t ns);

#endif
