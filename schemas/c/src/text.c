#include "internal.h"

/* Unicode, table 3-7: the first byte determines the range of the second, which excludes overlong forms, surrogates and
 * code points above U+10FFFF. */
size_t llb_utf8_length(const uint8_t *text, size_t size) {
  if (size == 0) return 0;
  uint8_t lead = text[0];
  if (lead < 0x80) return 1;
  size_t length = lead >= 0xc2 && lead <= 0xdf ? 2 : (lead & 0xf0) == 0xe0 ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
  if (length == 0 || length > size) return 0;
  uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (text[1] < low || text[1] > high) return 0;
  for (size_t i = 2; i < length; i++)
    if ((text[i] & 0xc0) != 0x80) return 0;
  return length;
}

uint32_t llb_harmful(const uint8_t *at, size_t length) {
  uint32_t c = length == 1   ? at[0]
               : length == 2 ? (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu)
               : length == 3 ? (at[0] & 0x0fu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu)
                             : ' ';
  bool is = c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x061c || c == 0x200e || c == 0x200f ||
            (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return is ? c : 0;
}

bool llb_check_text(const uint8_t *start, llb_bytes text, size_t least, size_t most, const char *what,
                    llb_rejection *rejection) {
  size_t offset = (size_t)(text.data - start);
  if (text.size < least || text.size > most)
    return llb_reject(rejection, LLB_BAD_TEXT, offset, "The %s has %zu bytes; %zu to %zu are allowed.", what, text.size,
                      least, most);
  for (size_t at = 0, length; at < text.size; at += length) {
    length = llb_utf8_length(text.data + at, text.size - at);
    if (length == 0) return llb_reject(rejection, LLB_BAD_TEXT, offset + at, "The %s is not well-formed UTF-8.", what);
  }
  return true;
}
