#include "destination.h"

#include <stdio.h>
#include <string.h>

void ll_destination(const char *url, char destination[LL_DESTINATION_BYTES]) {
  size_t scheme = strcspn(url, ":"), length = strcspn(url, "?");
  if (scheme < length) scheme += strspn(url + scheme, ":/") < 3 ? strspn(url + scheme, ":/") : 3;
  const char *from = url + scheme, *end = url + length;
  for (const char *at = from; at < end; at++) /* a password may hold any character */
    if (*at == '@') from = at + 1;
  snprintf(destination, LL_DESTINATION_BYTES, "%.*s%.*s", (int)scheme, url, (int)(end - from), from);
}

static const char *after_scheme(const char *destination) {
  const char *found = strstr(destination, "://");
  return found != NULL ? found + 3 : destination;
}

static bool has_host(const char *hosts, size_t bytes, const char *host, size_t host_bytes) {
  while (bytes > 0) {
    const char *comma = memchr(hosts, ',', bytes);
    size_t length = comma != NULL ? (size_t)(comma - hosts) : bytes;
    if (length == host_bytes && memcmp(hosts, host, length) == 0) return true;
    if (comma == NULL) return false;
    hosts += length + 1;
    bytes -= length + 1;
  }
  return false;
}

bool ll_destination_is_same(const char *one, const char *other) {
  const char *hosts[] = {after_scheme(one), after_scheme(other)};
  size_t bytes[] = {strcspn(hosts[0], "/"), strcspn(hosts[1], "/")};
  const char *paths[] = {hosts[0] + bytes[0], hosts[1] + bytes[1]};
  for (int i = 0; i < 2; i++)
    if (strcmp(paths[i], "/") == 0) paths[i] = "";
  size_t scheme = (size_t)(hosts[0] - one);
  if (scheme != (size_t)(hosts[1] - other) || memcmp(one, other, scheme) != 0 || strcmp(paths[0], paths[1]) != 0)
    return false;
  if (bytes[0] == 0 && bytes[1] == 0) return true;
  for (const char *host = hosts[0], *end = host + bytes[0]; host < end;) {
    size_t length = strcspn(host, ",/");
    if (length > 0 && has_host(hosts[1], bytes[1], host, length)) return true;
    host += length + 1;
  }
  return false;
}
