#include "inbox.h"

#include <stdio.h>
#include <string.h>

void nats_inbox_prefix(const sink_security *security, char prefix[NATS_INBOX_PREFIX_BYTES]) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  const char *user = security->password ? security->user : NULL;
  size_t length = user ? strlen(user) : 0;
  bool fits = length > 0 && length <= 64 && strspn(user, letters) == length;
  snprintf(prefix, NATS_INBOX_PREFIX_BYTES, "_INBOX%s%s", fits ? "_" : "", fits ? user : "");
}
