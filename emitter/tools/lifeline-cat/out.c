#include "out.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void out_flush(out *to) {
  for (size_t done = 0; done < to->used && to->error == 0;) {
    ssize_t count = write(to->fd, to->bytes + done, to->used - done);
    if (count >= 0)
      done += (size_t)count;
    else if (errno != EINTR)
      to->error = errno;
  }
  to->used = 0;
}

void out_bytes(out *to, const void *bytes, size_t size) {
  for (const char *from = bytes; size > 0;) {
    size_t part = size < OUT_BYTES ? size : OUT_BYTES;
    memcpy(out_room(to, part), from, part);
    to->used += part;
    from += part;
    size -= part;
  }
}

/* --- numbers --- */

static const char pairs[] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
    "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

/* Writes the digits up to `end`; returns their start. */
static char *digits_before(char *end, uint64_t value) {
  for (; value >= 100; value /= 100)
    memcpy(end -= 2, pairs + 2 * (value % 100), 2);
  if (value >= 10)
    memcpy(end -= 2, pairs + 2 * value, 2);
  else
    *--end = (char)('0' + value);
  return end;
}

void out_u64(out *to, uint64_t value) {
  char digits[OUT_NUMBER_MAX], *end = digits + sizeof digits, *begin = digits_before(end, value);
  out_bytes(to, begin, (size_t)(end - begin));
}

void out_i64(out *to, int64_t value) {
  if (value < 0) out_char(to, '-');
  out_u64(to, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void out_hex(out *to, const uint8_t *bytes, size_t size) {
  static const char hex[] = "0123456789abcdef";
  for (size_t i = 0; i < size; i++) {
    char *at = out_room(to, 2);
    at[0] = hex[bytes[i] >> 4];
    at[1] = hex[bytes[i] & 15];
    to->used += 2;
  }
}

/* Prints digits / 10^places. Both are exact as doubles, so that the text reads back as their quotient. */
static void out_decimal(out *to, uint64_t digits, int places) {
  char text[OUT_NUMBER_MAX], *end = text + sizeof text, *begin = digits_before(end, digits);
  while (end - begin <= places)
    *--begin = '0';
  size_t whole = (size_t)(end - begin - places);
  out_bytes(to, begin, whole);
  if (places > 0) out_char(to, '.');
  out_bytes(to, begin + whole, (size_t)places);
}

typedef bool same_as(double read, const void *value);

static bool same_f64(double read, const void *value) {
  return read == *(const double *)value;
}
static bool same_f32(double read, const void *value) {
  return (float)read == *(const float *)value;
}

/* Most measured values have few decimals, which are found without the C library's slow conversion. */
static void out_finite(out *to, double value, same_as *same, const void *wanted, int least_digits) {
  static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
  enum { PLACES = sizeof powers / sizeof powers[0] };
  const double exact = 9007199254740992; /* 2^53 */
  double size = fabs(value);
  if (signbit(value)) out_char(to, '-');
  if (size == 0 || size >= 1e-5) {
    double sign = signbit(value) ? -1 : 1;
    for (int places = 0; places < PLACES && size * powers[places] < exact; places++) {
      double digits = rint(size * powers[places]);
      if (!same(sign * (digits / powers[places]), wanted)) continue;
      out_decimal(to, (uint64_t)digits, places);
      return;
    }
  }
  char text[OUT_NUMBER_MAX];
  for (int digits = least_digits; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (same(strtod(text, NULL), wanted)) break;
  }
  out_word(to, text + (text[0] == '-'));
}

void out_f64(out *to, double value) {
  out_finite(to, value, same_f64, &value, 15);
}

void out_f32(out *to, float value) {
  out_finite(to, (double)value, same_f32, &value, 6);
}

/* --- text --- */

static void out_escape(out *to, uint8_t c) {
  switch (c) {
  case '"': out_bytes(to, "\\\"", 2); break;
  case '\\': out_bytes(to, "\\\\", 2); break;
  case '\n': out_bytes(to, "\\n", 2); break;
  case '\t': out_bytes(to, "\\t", 2); break;
  case '\r': out_bytes(to, "\\r", 2); break;
  default: out_bytes(to, "\\u00", 4), out_hex(to, &c, 1);
  }
}

static bool plain(uint8_t c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void out_json_text(out *to, llb_bytes text) {
  out_char(to, '"');
  for (size_t at = 0; at < text.size;) {
    size_t run = at;
    while (run < text.size && plain(text.data[run]))
      run++;
    out_bytes(to, text.data + at, run - at);
    at = run;
    if (at == text.size) break;
    size_t length = llb_utf8_length(text.data + at, text.size - at);
    uint32_t code = length > 1 ? llb_harmful(text.data + at, length) : 0;
    if (code > 0)
      out_bytes(to, "\\u", 2), out_hex(to, (const uint8_t[]){(uint8_t)(code >> 8), (uint8_t)code}, 2);
    else if (length == 0)
      out_bytes(to, "\xef\xbf\xbd", 3);
    else if (length == 1)
      out_escape(to, text.data[at]);
    else
      out_bytes(to, text.data + at, length);
    at += length > 0 ? length : 1;
  }
  out_char(to, '"');
}

/* --- time --- */

enum { NS_PER_S = 1000000000 };

/* Caches the text of a second, since many events share it. */
typedef struct second {
  int64_t seconds;
  bool set;
  size_t size;
  char text[40];
} second;

static const second *text_of(second *known, int64_t seconds, const char *format) {
  if (known->set && known->seconds == seconds) return known;
  time_t time = (time_t)seconds;
  struct tm parts;
  gmtime_r(&time, &parts); /* never fails: 64 bits of nanoseconds are less than 600 years */
  known->size = strftime(known->text, sizeof known->text, format, &parts);
  known->seconds = seconds;
  known->set = true;
  return known;
}

static void out_time(out *to, int64_t ns, int digits, second *known, const char *format) {
  int64_t fraction = ns % NS_PER_S, seconds = ns / NS_PER_S;
  if (fraction < 0) fraction += NS_PER_S, seconds--;
  const second *at = text_of(known, seconds, format);
  out_bytes(to, at->text, at->size);
  char text[OUT_NUMBER_MAX], *end = text + sizeof text, *begin = digits_before(end, (uint64_t)fraction + NS_PER_S);
  *begin = '.'; /* replaces the 1 that preserves leading zeros */
  out_bytes(to, begin, (size_t)digits + 1);
}

void out_iso_time(out *to, int64_t ns, int digits) {
  static second known;
  out_time(to, ns, digits, &known, "%Y-%m-%dT%H:%M:%S");
  out_char(to, 'Z');
}

void out_ulm_time(out *to, int64_t ns) {
  static second known;
  out_time(to, ns, 6, &known, "%Y%m%d%H%M%S");
}
