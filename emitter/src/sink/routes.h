/* The routes that a configuration declares beside the default one: "audit=nats://host/,debug=file:///tmp/debug.llb".
 *
 * Nothing else can become a route: an activation from outside names one of these, or is refused. A comma ends a URL
 * only where another declaration follows, since URLs of brokers may list several servers.
 */
#ifndef LIFELINE_ROUTES_H
#define LIFELINE_ROUTES_H

#include "ring/ringfile.h"

typedef struct ll_routes {
  uint32_t count; /* of the declared ones; their numbers are 1 and up */
  char names[LL_ROUTES_MAX - 1][LL_ROUTE_NAME_BYTES];
  const char *urls[LL_ROUTES_MAX - 1]; /* in text */
  char text[16384];
} ll_routes;

/* Reads a list of declarations; an empty text or NULL declares none. False with one line in why, which quotes no URL.
 */
bool ll_routes_parse(ll_routes *routes, const char *text, char *why, size_t why_bytes);

/* Adds one declaration, "name=url". */
bool ll_routes_add(ll_routes *routes, const char *declaration, size_t bytes, char *why, size_t why_bytes);

/* The number of the route of this name, "default" being 0; -1: it is not declared. */
int ll_routes_number(const ll_routes *routes, const char *name);

/* Where the route of this name leads, the default one to `url`; NULL: it is not declared. `routes` may be NULL. */
const char *ll_routes_url(const ll_routes *routes, const char *name, const char *url);

#endif
