/* The events' declarations for LTTng-UST, which includes this header several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER lifeline_memcached

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./provider.h"

#if !defined(BENCH_MEMCACHED_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_MEMCACHED_PROVIDER_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(lifeline_memcached, request_begin,
                           LTTNG_UST_TP_ARGS(int, connection, const char *, command, uint32_t, key_bytes),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, connection, connection)
                                                   lttng_ust_field_string(command, command)
                                                       lttng_ust_field_integer(uint32_t, key_bytes, key_bytes)))
LTTNG_UST_TRACEPOINT_EVENT(lifeline_memcached, request_end,
                           LTTNG_UST_TP_ARGS(int, connection, const char *, status, uint32_t, reply_bytes),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, connection, connection)
                                                   lttng_ust_field_string(status, status)
                                                       lttng_ust_field_integer(uint32_t, reply_bytes, reply_bytes)))

#endif

#include <lttng/tracepoint-event.h>
