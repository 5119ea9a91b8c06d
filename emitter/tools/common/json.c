#include "json.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "life/utf8.h"

static void print_escaped(const char *text, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    if (text[i] == '"' || text[i] == '\\') putchar('\\');
    if ((unsigned char)text[i] < 0x20)
      printf("\\u%04x", (unsigned)text[i]);
    else
      putchar(text[i]);
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

/* C0, DEL, and C1 as UTF-8 has them: some terminals obey those as well. */
static bool is_control(const unsigned char *at) {
  return *at < 0x20 || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0);
}

void plain_print_text(const char *text) {
  for (size_t good = ll_utf8_prefix(text);; good = ll_utf8_prefix(text)) {
    for (const char *end = text + good; text < end; text++) {
      bool control = is_control((const unsigned char *)text);
      putchar(control ? '?' : *text);
      text += control && *(const unsigned char *)text == 0xc2; /* which has two bytes */
    }
    if (!*text) return;
    putchar('?');
    text++;
  }
}

int output_end(const char *tool, int status) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  struct pollfd reader = {.fd = STDOUT_FILENO, .events = POLLOUT};
  if (poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR)) return status; /* it has read enough: ... | head */
  fprintf(stderr, "%s: standard output cannot be written\n", tool);
  return 1;
}
