#include "url.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 3, 4))) static bool fail(char *error, size_t error_bytes, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error, error_bytes, format, args);
  va_end(args);
  return false;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes in place. Rejects %00, which would truncate the text. */
static bool decode(char *text) {
  char *to = text;
  for (const char *from = text; *from; from++, to++) {
    *to = *from;
    if (*from != '%') continue;
    int high = hex_digit(from[1]), low = high < 0 ? -1 : hex_digit(from[2]);
    if (low < 0 || high * 16 + low == 0) return false;
    *to = (char)(high * 16 + low);
    from += 2;
  }
  *to = 0;
  return true;
}

/* Cuts text at the first occurrence of this character and returns the rest, or NULL. */
static char *cut(char *text, char at) {
  char *found = strchr(text, at);
  if (!found) return NULL;
  *found = 0;
  return found + 1;
}

static bool parse_parameters(sink_url *url, char *query, char *error, size_t error_bytes) {
  while (query && *query) {
    char *next = cut(query, '&'), *value = cut(query, '=');
    if (!value || !*query || !decode(query) || !decode(value))
      return fail(error, error_bytes, "%s: a parameter of the URL is not key=value", url->scheme);
    if (sink_url_parameter(url, query))
      return fail(error, error_bytes, "%s: the URL's parameter \"%s\" occurs twice", url->scheme, query);
    if (url->parameter_count == SINK_URL_MAX_PARAMETERS)
      return fail(error, error_bytes, "%s: the URL has too many parameters", url->scheme);
    url->parameters[url->parameter_count++] = (sink_parameter){query, value};
    query = next;
  }
  return true;
}

static bool parse_user(sink_url *url, char *userinfo) {
  char *password = cut(userinfo, ':');
  url->user = userinfo;
  url->password = password;
  return decode(userinfo) && (!password || decode(password));
}

/* The port after the last colon, or NULL. A colon inside of [IPv6] does not count. */
static const char *port_of(const char *host) {
  const char *colon = strrchr(host, ':'), *bracket = strrchr(host, ']');
  return colon && (!bracket || colon > bracket) ? colon + 1 : NULL;
}

static bool parse_hosts(sink_url *url, char *hosts, const char *default_port, char *error, size_t error_bytes) {
  size_t count = 1;
  for (const char *p = hosts; *p; p++)
    count += *p == ',';
  size_t capacity = strlen(hosts) + count * (strlen(default_port) + 1) + 1; /* a colon and a port for each */
  url->hosts = url->hosts_memory = calloc(1, capacity);
  if (!url->hosts) return fail(error, error_bytes, "%s: out of memory", url->scheme);
  char *to = url->hosts_memory;
  for (char *host = hosts, *next; host; host = next) {
    next = cut(host, ',');
    const char *port = port_of(host);
    char *end;
    long number = strtol(port ? port : default_port, &end, 10);
    if (!*host || port == host + 1 || *end || number < 1 || number > 65535)
      return fail(error, error_bytes, "%s: the URL's hosts are not host:port[,host:port]", url->scheme);
    to += sprintf(to, "%s%s%s%s", host == hosts ? "" : ",", host, port ? "" : ":", port ? "" : default_port);
  }
  return true;
}

static bool parse(sink_url *url, const char *default_port, char *error, size_t error_bytes) {
  char *rest = strstr(url->memory, "://");
  url->scheme = url->memory;
  if (!rest) return fail(error, error_bytes, "the sink's URL has no scheme://");
  *rest = 0;
  rest += 3;
  char *query = cut(rest, '?'), *name = cut(rest, '/'), *at = strrchr(rest, '@');
  url->name = name ? name : "";
  if (name && !decode(name))
    return fail(error, error_bytes, "%s: the path of the URL has an invalid %%-escape", url->scheme);
  if (at) {
    *at = 0;
    if (!parse_user(url, rest))
      return fail(error, error_bytes, "%s: user or password in the URL has an invalid %%-escape", url->scheme);
    rest = at + 1;
  }
  return parse_hosts(url, rest, default_port, error, error_bytes) && parse_parameters(url, query, error, error_bytes);
}

bool sink_url_parse(sink_url *url, const char *text, const char *default_port, char *error, size_t error_bytes) {
  *url = (sink_url){.memory = strdup(text)};
  if (!url->memory) return fail(error, error_bytes, "out of memory");
  bool good = parse(url, default_port, error, error_bytes);
  if (!good) sink_url_free(url);
  return good;
}

void sink_url_free(sink_url *url) {
  if (url->password) explicit_bzero((char *)url->password, strlen(url->password));
  for (size_t i = 0; i < url->parameter_count; i++)
    explicit_bzero((char *)url->parameters[i].value, strlen(url->parameters[i].value));
  free(url->memory);
  free(url->hosts_memory);
  *url = (sink_url){0};
}

const char *sink_url_parameter(const sink_url *url, const char *key) {
  for (size_t i = 0; i < url->parameter_count; i++)
    if (strcmp(url->parameters[i].key, key) == 0) return url->parameters[i].value;
  return NULL;
}

bool sink_url_number(const sink_url *url, const char *key, unsigned standard, unsigned most, unsigned *value,
                     char *error, size_t error_bytes) {
  const char *text = sink_url_parameter(url, key);
  *value = standard;
  if (!text) return true;
  size_t digits = strspn(text, "0123456789");
  unsigned long number = strtoul(text, NULL, 10);
  if (digits == 0 || text[digits] || number < 1 || number > most)
    return fail(error, error_bytes, "%s: the URL parameter %s must be a number from 1 to %u", url->scheme, key, most);
  *value = (unsigned)number;
  return true;
}
