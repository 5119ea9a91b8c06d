#include "text.h"

#include "base/utf8.h"

#include <string.h>

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

char *text_line(char **at) {
  char *line = *at;
  if (*line == '\0') return NULL;
  char *end = strchr(line, '\n');
  *at = end != NULL ? end + 1 : line + strlen(line);
  if (end != NULL) *end = '\0';
  return line;
}

char *text_word(char **at) {
  char *word = *at;
  while (is_blank(*word) || *word == '\n')
    word++;
  if (*word == '\0') return NULL;
  char *end = word;
  while (*end && !is_blank(*end) && *end != '\n')
    end++;
  *at = *end ? end + 1 : end;
  *end = '\0';
  return word;
}

bool text_number(char **at, uint64_t *value) {
  char *digit = *at;
  uint64_t number = 0;
  while (is_blank(*digit))
    digit++;
  if (*digit < '0' || *digit > '9') return false;
  for (; *digit >= '0' && *digit <= '9'; digit++)
    if (__builtin_mul_overflow(number, 10, &number) ||
        __builtin_add_overflow(number, (uint64_t)(*digit - '0'), &number))
      return false;
  if (*digit && !is_blank(*digit) && *digit != '\n') return false;
  *at = digit;
  *value = number;
  return true;
}

unsigned text_numbers(char **at, uint64_t *values, unsigned count) {
  unsigned read = 0;
  while (read < count && text_number(at, &values[read]))
    read++;
  return read;
}

bool text_value(const char *text, const char *key, uint64_t *value) {
  size_t bytes = strlen(key);
  while (text != NULL && *text) {
    if (strncmp(text, key, bytes) == 0 && (is_blank(text[bytes]))) {
      char *at = (char *)(uintptr_t)(text + bytes);
      return text_number(&at, value);
    }
    text = strchr(text, '\n');
    if (text != NULL) text++;
  }
  return false;
}

void text_copy(char *to, size_t bytes, const char *from) {
  size_t size = strnlen(from, bytes - 1);
  memcpy(to, from, size);
  to[size] = '\0';
  if (from[size] != '\0') to[ll_utf8_prefix(to)] = '\0'; /* not half a character at the cut */
  ll_make_utf8(to);
  for (char *at = to; *at; at++)
    if ((unsigned char)*at < 0x20 || *at == 0x7f) *at = '?';
}
