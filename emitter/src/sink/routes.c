#include "routes.h"

#include <stdio.h>
#include <string.h>

/* Length of the name in front of "=url" at `text`; 0 when there is none. */
static size_t name_length(const char *text) {
  size_t length = strspn(text, LL_ROUTE_NAME_LETTERS);
  return text[length] == '=' ? length : 0;
}

/* Length up to the end, or to the comma in front of the next declaration. */
static size_t declaration_length(const char *text) {
  const char *comma = strchr(text, ',');
  while (comma != NULL && name_length(comma + 1) == 0)
    comma = strchr(comma + 1, ',');
  return comma != NULL ? (size_t)(comma - text) : strlen(text);
}

static size_t text_used(const ll_routes *routes) {
  if (routes->count == 0) return 0;
  const char *last = routes->urls[routes->count - 1];
  return (size_t)(last - routes->text) + strlen(last) + 1;
}

bool ll_routes_add(ll_routes *routes, const char *declaration, size_t bytes, char *why, size_t why_bytes) {
  size_t name = name_length(declaration), used = text_used(routes);
  if (name == 0 || name >= LL_ROUTE_NAME_BYTES || name + 1 >= bytes) {
    snprintf(why, why_bytes, "a route must be name=url, with a name of 1 to %d of a-z, 0-9 and -, at \"%.*s\"",
             LL_ROUTE_NAME_BYTES - 1, (int)strcspn(declaration, "=:,"), declaration);
    return false;
  }
  if (routes->count == LL_ROUTES_MAX - 1) {
    snprintf(why, why_bytes, "at most %d routes can be declared", LL_ROUTES_MAX - 1);
    return false;
  }
  size_t url = bytes - name - 1;
  if (url >= sizeof routes->text - used) {
    snprintf(why, why_bytes, "the declarations of routes are longer than %zu bytes", sizeof routes->text - 1);
    return false;
  }
  char *copy = routes->names[routes->count];
  memcpy(copy, declaration, name);
  copy[name] = '\0';
  if (ll_routes_number(routes, copy) >= 0) {
    snprintf(why, why_bytes, "route \"%s\" is declared already", copy);
    return false;
  }
  memcpy(routes->text + used, declaration + name + 1, url);
  routes->text[used + url] = '\0';
  routes->urls[routes->count++] = routes->text + used;
  return true;
}

bool ll_routes_parse(ll_routes *routes, const char *text, char *why, size_t why_bytes) {
  memset(routes, 0, sizeof *routes);
  if (text == NULL || *text == '\0') return true;
  for (;;) {
    size_t length = declaration_length(text);
    if (!ll_routes_add(routes, text, length, why, why_bytes)) return false;
    if (text[length] == '\0') return true;
    text += length + 1;
  }
}

int ll_routes_number(const ll_routes *routes, const char *name) {
  if (strcmp(name, "default") == 0) return 0;
  for (uint32_t i = 0; i < routes->count; i++)
    if (strcmp(routes->names[i], name) == 0) return (int)i + 1;
  return -1;
}

const char *ll_routes_url(const ll_routes *routes, const char *name, const char *url) {
  int number = routes != NULL ? ll_routes_number(routes, name) : strcmp(name, "default");
  return number == 0 ? url : routes != NULL && number > 0 ? routes->urls[number - 1] : NULL;
}
