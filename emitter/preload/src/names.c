#include "names.h"

#include <string.h>

static inline uint64_t rotate(uint64_t word, int bits) {
  return word << bits | word >> (64 - bits);
}

static void mix(uint64_t v[4], int rounds) {
  while (rounds-- > 0) {
    v[0] += v[1], v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0], v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1], v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2], v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
  }
}

static void take(uint64_t v[4], uint64_t word) {
  v[3] ^= word;
  mix(v, 2);
  v[0] ^= word;
}

uint64_t io_hash(const uint64_t key[2], const void *bytes, size_t count) {
  const uint8_t *at = bytes;
  uint64_t word, last = (uint64_t)count << 56;
  uint64_t v[4] = {key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                   key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};
  for (; count >= 8; at += 8, count -= 8) {
    memcpy(&word, at, 8);
    take(v, word);
  }
  for (size_t i = 0; i < count; i++)
    last |= (uint64_t)at[i] << 8 * i;
  take(v, last);
  v[2] ^= 0xff;
  mix(v, 4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* On a mismatch only the last star can usefully take one more byte. */
static bool matches(const char *pattern, const char *text, const char *end) {
  const char *star = NULL, *retry = NULL;
  while (text < end) {
    if (*pattern == '*') {
      star = ++pattern;
      retry = text;
    } else if (*pattern == '?' || *pattern == *text) {
      pattern++, text++;
    } else if (star != NULL) {
      pattern = star;
      text = ++retry;
    } else {
      return false;
    }
  }
  while (*pattern == '*')
    pattern++;
  return *pattern == '\0';
}

bool io_glob(const char *pattern, const char *text) {
  return matches(pattern, text, text + strlen(text));
}

/* Also without what /proc/self/fd appends to the path of a removed file. */
bool io_is_redacted(const io_settings *settings, const char *name) {
  static const char suffix[] = " (deleted)";
  const char *end = name + strlen(name);
  const char *cut = end - name >= (ptrdiff_t)sizeof suffix ? end - (sizeof suffix - 1) : name;
  if (strcmp(cut, suffix) != 0) cut = end;
  if (strcmp(name, IO_NAME_REDACTED) == 0) return true;
  for (const char *pattern = settings->redact; *pattern != '\0'; pattern += strlen(pattern) + 1)
    if (matches(pattern, name, end) || matches(pattern, name, cut)) return true;
  return false;
}

static void shorten(const char *name, char *reported) {
  static const char dots[] = "...";
  size_t bytes = strlen(name);
  if (bytes < IO_NAME_BYTES) {
    memcpy(reported, name, bytes + 1);
    return;
  }
  const char *from = name + bytes - (IO_NAME_BYTES - sizeof dots);
  while ((*from & 0xc0) == 0x80) /* not in the middle of a character */
    from++;
  memcpy(reported, dots, sizeof dots - 1);
  memcpy(reported + sizeof dots - 1, from, (size_t)(name + bytes - from) + 1);
}

void io_name(const io_settings *settings, const char *name, bool secret, char *reported) {
  static const char digits[] = "0123456789abcdef";
  if (settings->names == IO_NAMES_NONE) {
    strcpy(reported, IO_NAME_HIDDEN);
  } else if (secret && io_is_redacted(settings, name)) {
    strcpy(reported, IO_NAME_REDACTED);
  } else if (settings->names == IO_NAMES_HASH) {
    uint64_t hash = io_hash(settings->key, name, strlen(name));
    *reported++ = '#';
    for (int shift = 60; shift >= 0; shift -= 4)
      *reported++ = digits[hash >> shift & 15];
    *reported = '\0';
  } else {
    shorten(name, reported);
  }
}
