/* Parsed URL of a sink: scheme://[user:password@]host:port[,host:port]/[name][?key=value&...].
 *
 * User, password, name and values are percent-decoded. Messages quote keys only: user, password and values may be
 * secret, and so may any part of a malformed URL.
 */
#ifndef LIFELINE_SINK_URL_H
#define LIFELINE_SINK_URL_H

#include <stdbool.h>
#include <stddef.h>

enum { SINK_URL_MAX_PARAMETERS = 64 };

typedef struct sink_parameter {
  const char *key;
  const char *value;
} sink_parameter;

typedef struct sink_url {
  const char *scheme;
  const char *user; /* NULL if there is none; likewise password */
  const char *password;
  const char *hosts; /* "host:port[,host:port]", ports filled in */
  const char *name;  /* what follows the slash; "" if nothing does */
  sink_parameter parameters[SINK_URL_MAX_PARAMETERS];
  size_t parameter_count;
  char *memory;
  char *hosts_memory;
} sink_url;

/* On failure writes one line into error and leaves nothing to free. */
bool sink_url_parse(sink_url *url, const char *text, const char *default_port, char *error, size_t error_bytes);

/* Overwrites secrets, then frees. */
void sink_url_free(sink_url *url);

/* NULL if the URL does not have it. */
const char *sink_url_parameter(const sink_url *url, const char *key);

/* Reads a whole number from 1 to most; standard if the URL does not have the parameter. On failure writes one line into
 * error. */
bool sink_url_number(const sink_url *url, const char *key, unsigned standard, unsigned most, unsigned *value,
                     char *error, size_t error_bytes);

#endif
