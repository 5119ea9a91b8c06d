#include "json.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/utf8.h"

/* Length of the character at `at`, in well-formed UTF-8, if it must not be shown; else 0. Harmful are C0, DEL, C1 (some
 * terminals interpret it), other line separators, and controls of the writing direction. */
static int harmful(const unsigned char *at) {
  if (*at < 0x20 || *at == 0x7f) return 1;
  if ((*at == 0xc2 && at[1] < 0xa0) || (*at == 0xd8 && at[1] == 0x9c)) return 2;
  if (*at != 0xe2) return 0;
  bool mark = at[1] == 0x80 && (at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xa8 && at[2] <= 0xae));
  bool isolate = at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9;
  return mark || isolate ? 3 : 0;
}

static unsigned code_point(const unsigned char *at, int bytes) {
  if (bytes == 1) return at[0];
  unsigned tail = (unsigned)(at[1] & 0x3f);
  return bytes == 2 ? (at[0] & 0x1fu) << 6 | tail : (at[0] & 0x0fu) << 12 | tail << 6 | (at[2] & 0x3fu);
}

static void print_escaped(const char *text, size_t bytes) {
  for (const char *end = text + bytes; text < end;) {
    const unsigned char *at = (const unsigned char *)text;
    int hidden = harmful(at);
    if (*at == '"' || *at == '\\') putchar('\\');
    if (hidden)
      printf("\\u%04x", code_point(at, hidden));
    else
      putchar(*at);
    text += hidden ? hidden : 1;
  }
}

void json_print_text(const char *text) {
  putchar('"');
  for (size_t good = ll_utf8_prefix(text);; good = ll_utf8_prefix(text)) {
    print_escaped(text, good);
    text += good;
    if (!*text) break;
    fputs("\\ufffd", stdout);
    text++;
  }
  putchar('"');
}

void plain_print_text(const char *text) {
  for (size_t good = ll_utf8_prefix(text);; good = ll_utf8_prefix(text)) {
    for (const char *end = text + good; text < end;) {
      int bytes = harmful((const unsigned char *)text);
      putchar(bytes ? '?' : *text);
      text += bytes ? bytes : 1;
    }
    if (!*text) return;
    putchar('?');
    text++;
  }
}

int output_end(const char *tool, int status) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  struct pollfd reader = {.fd = STDOUT_FILENO, .events = POLLOUT};
  if (poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR)) return status; /* closed by the reader: ... | head */
  fprintf(stderr, "%s: cannot write to standard output\n", tool);
  return 1;
}
