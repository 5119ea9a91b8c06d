/* libFuzzer target: what lifeline-probe reads. The first byte chooses: a process' stat, an announcement of a session,
 * or netlink's description of a socket. What is accepted stays within its bounds and is valid text. */
#include "base/utf8.h"
#include "connections/diag.h"
#include "processes/scan.h"
#include "sessions/sessions.h"

#include <stdlib.h>
#include <string.h>

static void require(int condition) {
  if (!condition) abort();
}

static void check_text(const char *text, size_t bytes) {
  require(memchr(text, 0, bytes) != NULL && ll_is_utf8(text));
}

static void try_process(char *text) {
  process_stat stat;
  if (!process_stat_parse(text, &stat)) return;
  check_text(stat.program, sizeof stat.program);
  require(stat.pid <= INT32_MAX && stat.parent <= INT32_MAX);
}

static void try_session(char *text) {
  session_file file;
  uint8_t id[SESSION_BYTES];
  session_id_parse(text, id);
  if (!session_file_parse(text, &file)) return;
  check_text(file.name, sizeof file.name);
  require(file.pid > 0 && file.pid <= INT32_MAX);
}

static void try_socket(const uint8_t *data, size_t size) {
  diag_look look;
  char local[DIAG_END_BYTES], remote[DIAG_END_BYTES];
  if (!diag_parse(data, size, &look)) return;
  diag_ends(&look, local, remote);
  check_text(local, sizeof local);
  check_text(remote, sizeof remote);
  require(memchr(look.congestion, 0, sizeof look.congestion) != NULL && diag_state_name(look.state) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  char *text = malloc(size); /* without the first byte, with a 0 */
  if (text == NULL) return 0;
  memcpy(text, data + 1, size - 1);
  text[size - 1] = '\0';
  switch (*data % 3) {
  case 0: try_process(text); break;
  case 1: try_session(text); break;
  default: try_socket((uint8_t *)text, size - 1); break;
  }
  free(text);
  return 0;
}
