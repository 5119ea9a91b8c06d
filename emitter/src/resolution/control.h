/* Passes activations of the control topic from a sink's threads to the harvester.
 *
 * A table by id, so that a flood of changes costs no more than the ids that it names. Anything beyond the limits is
 * ignored and logged: ids of 1 to 128 printable characters, lines of at most 1,024 bytes without control characters,
 * 256 activations for this program and host. The rate at which changes are passed on is limited, too. A line that is
 * read again unchanged is not passed on again: its expiry must not restart with each reconnect.
 */
#ifndef LIFELINE_CONTROL_H
#define LIFELINE_CONTROL_H

#include "sink/sink.h"

#include <stdbool.h>

enum { LL_CONTROL_IDS_MAX = 256, LL_CONTROL_ID_BYTES = 128, LL_CONTROL_LINE_BYTES = 1024 };

typedef struct ll_control ll_control;

/* Calls `news` on a sink's thread when there is something to apply. Activations for other programs or hosts than these
 * take no room (NULL: none is for another). NULL when out of memory. */
ll_control *ll_control_create(void (*news)(void *ctx), void *ctx, const char *program, const char *host);
void ll_control_free(ll_control *control);

/* Any thread: see ll_sink_host. */
void ll_control_begin(ll_control *control);
void ll_control_take(ll_control *control, const ll_control_message *message);
void ll_control_complete(ll_control *control);

/* False, with one line in why, if the activation is not accepted. */
typedef bool (*ll_control_setter)(void *ctx, const char *id, const char *line, int64_t written_ms, char *why,
                                  size_t why_bytes);

/* Passes changes to set (line NULL: it ended), on the caller's thread, at most once in 100 ms, so that a hostile topic
 * does not keep the harvester from its work. Logs what set does not accept. */
void ll_control_apply(ll_control *control, uint64_t now_ns, ll_control_setter set, void *ctx);

/* The time when there will be something to apply; UINT64_MAX: `news` will be called. */
uint64_t ll_control_due_ns(const ll_control *control);

#endif
