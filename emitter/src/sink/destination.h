/* Where a URL delivers to, without its credentials and parameters: "nats://host:4222,other/prefix". The ring file keeps
 * it for each route, so that another start does not deliver a file's events to a broker that they are not meant for. */
#ifndef LIFELINE_DESTINATION_H
#define LIFELINE_DESTINATION_H

#include "ring/ringfile.h"

/* Longer ones are cut. */
void ll_destination(const char *url, char destination[LL_DESTINATION_BYTES]);

/* True if both have the scheme and the path in common, and one of the hosts. A list of servers may change. */
bool ll_destination_is_same(const char *one, const char *other);

#endif
