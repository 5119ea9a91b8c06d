/* The event's declaration for LTTng-UST, which includes this header several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER lifeline_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng-provider.h"

#if !defined(BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(lifeline_bench, my_event, LTTNG_UST_TP_ARGS(int, count, float, value),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, count, count)
                                                   lttng_ust_field_float(float, value, value)))

#endif

#include <lttng/tracepoint-event.h>
