/* By OpenTelemetry C++: begin and end of a span. */
#ifndef BENCH_MEMCACHED_OTEL_EVENTS_H
#define BENCH_MEMCACHED_OTEL_EVENTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void emit_request_begin(int connection, const char *command, uint32_t key_bytes);
void emit_request_end(int connection, const char *status, uint32_t reply_bytes);

#ifdef __cplusplus
}
#endif

#endif
