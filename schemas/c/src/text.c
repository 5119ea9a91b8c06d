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
