/* The routes declared besides the default one: "audit=nats://host/,debug=file:///tmp/debug.llb".
 *
 * No other routes exist: an activation that names an undeclared route is refused. A comma ends a URL only if another
 * declaration follows, since broker URLs may list several servers.
 */
#ifndef LIFELINE_ROUTES_H
#define LIFELINE_ROUTES_H

#include "ring/ringfile.h"

typedef struct ll_routes {
  uint32_t count; /* declared routes; their numbers start at 1 */
  char names[LL_ROUTES_MAX - 1][LL_ROUTE_NAME_BYTES];
  const char *urls[LL_ROUTES_MAX - 1]; /* pointers into text */
  char text[16384];
} ll_routes;

/* Parses a list of declarations; an empty text or NULL declares none. False with one line in why, which quotes no URL.
 */
bool ll_routes_parse(ll_routes *routes, const char *text, char *why, size_t why_bytes);

/* Adds one declaration, "name=url". */
bool ll_routes_add(ll_routes *routes, const char *declaration, size_t bytes, char *why, size_t why_bytes);

/* The number of the route of this name; "default" is 0; -1 if it is not declared. */
int ll_routes_number(const ll_routes *routes, const char *name);

/* The URL of the route of this name, `url` for the default one; NULL if it is not declared. `routes` may be NULL. */
const char *ll_routes_url(const ll_routes *routes, const char *name, const char *url);

#endif
