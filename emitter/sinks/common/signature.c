#include "signature.h"

#include "base/bytes.h"
#include "base/low.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool parse(const char *text, uint8_t key[SIGNATURE_KEY_BYTES]) {
  enum { DIGITS = 2 * SIGNATURE_KEY_BYTES };
  if (strspn(text, "0123456789abcdefABCDEF") != DIGITS || text[DIGITS + strspn(text + DIGITS, "\r\n")]) return false;
  for (size_t i = 0; i < SIGNATURE_KEY_BYTES; i++)
    sscanf(text + 2 * i, "%2hhx", &key[i]);
  return true;
}

const char *sink_signature_load(sink_signature *signature, const char *path) {
  char text[2 * SIGNATURE_KEY_BYTES + sizeof "\r\n" + 1] = ""; /* room to detect a longer file */
  struct stat status;
  ssize_t got = -1;
  const char *wrong = NULL;
  int fd = ll_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || fstat(fd, &status) != 0 || (got = read(fd, text, sizeof text - 1)) < 0)
    wrong = strerror(errno);
  else if (status.st_mode & S_IRWXO)
    wrong = "other users can read or write it; run chmod 600";
  else if (!parse(text, signature->key))
    wrong = "it does not contain 64 hex digits; create a key with `openssl rand -hex 32`";
  explicit_bzero(text, sizeof text);
  if (fd >= 0) close(fd);
  signature->on = !wrong;
  return wrong;
}

void sink_signature_of(const sink_signature *signature, const uint8_t *batch, size_t bytes,
                       char text[SIGNATURE_TEXT_BYTES]) {
  uint8_t mac[SIGNATURE_KEY_BYTES] = {0}; /* stays zero if out of memory: the jobs then reject and count that batch */
  HMAC(EVP_sha256(), signature->key, SIGNATURE_KEY_BYTES, batch, bytes, mac, NULL);
  ll_hex(mac, sizeof mac, text);
}
