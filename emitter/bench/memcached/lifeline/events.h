/* By Lifeline. */
#include <lifeline/lifeline.h>

LL_EVENT(memcached_request_begin, "memcached.request.begin", LL_INFO, (i32, connection, ""), (string, command, ""),
         (u32, key_bytes, "B"));
LL_EVENT(memcached_request_end, "memcached.request.end", LL_INFO, (i32, connection, ""), (string, status, ""),
         (u32, reply_bytes, "B"));

#define emit_request_begin(connection, command, key_bytes)                                                             \
  ll_emit(memcached_request_begin, connection, command, key_bytes)
#define emit_request_end(connection, status, reply_bytes)                                                              \
  ll_emit(memcached_request_end, connection, status, reply_bytes)
