/* By LTTng-UST. */
#include "provider.h"

#define emit_request_begin(connection, command, key_bytes)                                                             \
  lttng_ust_tracepoint(lifeline_memcached, request_begin, connection, command, key_bytes)
#define emit_request_end(connection, status, reply_bytes)                                                              \
  lttng_ust_tracepoint(lifeline_memcached, request_end, connection, status, reply_bytes)
