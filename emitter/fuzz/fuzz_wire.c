/* libFuzzer target: untrusted input of the NATS sink. The first byte determines into how many pieces the rest is split.
 * Every string of a frame is terminated, and lies within the input. */
#include "wire.h"

#include <stdlib.h>
#include <string.h>

#include "login.h"

/* Stubs for functions of other files, which the frame reader does not need. */
char *login_new(const sink_security *security, const char *name, const char *nonce, bool tls, char *detail,
                size_t detail_bytes) {
  (void)security, (void)name, (void)nonce, (void)tls, (void)detail, (void)detail_bytes;
  return NULL;
}
void login_free(char *login) {
  (void)login;
}

static void require(int condition) {
  if (!condition) abort();
}

static void check_text(const wire *w, const char *text) {
  if (text == NULL || *text == '\0') return;
  require(text >= w->in && text + strlen(text) < w->in + w->used);
}

static void check(const wire *w, const wire_frame *frame) {
  require(w->taken <= w->used);
  check_text(w, frame->text);
  if (frame->kind != WIRE_MESSAGE) return;
  check_text(w, frame->subject);
  check_text(w, frame->reply);
  check_text(w, frame->headers);
  require(frame->data >= w->in && frame->data + frame->bytes < w->in + w->used);
  require(frame->data[frame->bytes] == '\0');
}

/* Like wire_read, but each time into new memory that ends with the bytes, except for a few more, which libFuzzer's
 * strncmp hook may read. */
static void receive(wire *w, const uint8_t *data, size_t size) {
  size_t kept = w->used - w->taken;
  char *in = calloc(1, kept + size + 8);
  require(in != NULL);
  if (kept > 0) memcpy(in, w->in + w->taken, kept);
  memcpy(in + kept, data, size);
  free(w->in);
  w->in = in;
  w->used = kept + size;
  w->taken = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  wire w = {.fd = -1};
  size_t piece = size > 1 ? 1 + (size - 1) / (1 + data[0] % 8) : 1;
  wire_frame frame = {.kind = WIRE_NOTHING};
  for (size_t at = 1; at < size && frame.kind != WIRE_JUNK; at += piece) {
    receive(&w, data + at, size - at < piece ? size - at : piece);
    do {
      frame = wire_next(&w);
      check(&w, &frame);
    } while (frame.kind != WIRE_NOTHING && frame.kind != WIRE_JUNK);
  }
  free(w.in);
  return 0;
}
