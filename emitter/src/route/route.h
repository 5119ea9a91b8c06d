/* A route sends sealed slots to its sink, in sequence order, and frees them as they are acknowledged.
 *
 * One thread (the harvester, or a recovery) sends and polls; acknowledgements come on any thread.
 */
#ifndef LIFELINE_ROUTE_H
#define LIFELINE_ROUTE_H

#include "relief.h"
#include "resolution/control.h"
#include "ring/slots.h"
#include "sink/plugin.h"

/* Parameters of ll_route_open. Texts must outlive the route. */
typedef struct ll_route_setup {
  const char *url, *host, *program;
  void (*progress)(void *ctx); /* called on an acknowledgement: a slot may be free, or a flush complete. Any thread */
  void *progress_ctx;
  bool first_hand; /* batches are sealed by this process: no other sink has sent them */
  bool silent;     /* another route of this process has the same sink, and logs its errors */
} ll_route_setup;

typedef struct ll_route {
  ll_store *store;
  uint32_t number;
  const ll_sink_plugin *plugin;
  ll_sink *sink;
  ll_sink_host host;
  ll_route_setup setup;
  ll_control *control; /* receives the control topic; NULL: not watched */
  uint64_t sent;       /* all sealed batches up to here were handed over once */
  uint64_t retry_at_ns;
  uint32_t backoff_ms;
  bool trouble_told; /* a refusal was logged, and nothing acknowledged since */
  uint32_t retry_wanted;
  uint32_t acknowledged_since; /* since the last retry */
  uint64_t acknowledged;
  uint64_t refused_batches;
  uint64_t proven;                  /* bytes of the largest batch that was acknowledged from its slot */
  uint64_t trial;                   /* sequence of the last batch that was larger when it was sealed */
  uint64_t in_flight[LL_SLOTS_MAX]; /* the sequence that the sink holds of the batch in this slot, or 0 */
  uint64_t offered[LL_SLOTS_MAX];   /* the last sequence that the sink was handed */
  ll_spool spool;                   /* holds batches while the sink is unreachable or too slow */
  bool starved;                     /* there was no room for a batch */
  uint32_t live_sent;               /* batches since the spool's last turn */
} ll_route;

/* Opens the sink. On failure writes one line into why and returns false. */
bool ll_route_open(ll_route *route, ll_store *store, uint32_t number, const ll_route_setup *setup, char *why,
                   size_t why_bytes);
void ll_route_close(ll_route *route);

/* Gives the route a spool. `settings` must outlive the route. */
void ll_route_spool(ll_route *route, const ll_spool_settings *settings);

/* At the end, with the sink closed: moves the remaining batches into the spool. True when all of them are there. */
bool ll_route_leave_to_spool(ll_route *route);

/* Makes the sink, if it has a control topic, report it to `control`, which must outlive the route. */
void ll_route_watch(ll_route *route, ll_control *control);

/* Sends sealed batches that are not in flight, until the sink is busy, then those in the spool. Moves batches to the
 * spool when slots run out. */
void ll_route_pump(ll_route *route);

/* Process acknowledgements. wait: for at most timeout_ms, and never returns at once. */
void ll_route_poll(ll_route *route);
void ll_route_wait(ll_route *route, int timeout_ms);

/* True when no batch up to this sequence waits for its acknowledgement. */
bool ll_route_settled(const ll_route *route, uint64_t sequence);

/* True while the sink has not accepted a sealed batch. */
bool ll_route_is_held_up(const ll_route *route);

/* False while the sink has never had a connection. */
bool ll_route_reached(const ll_route *route);

/* The largest batch to seal next, header included: what sink and spool accept. The broker's limit may be lower than the
 * sink knows: so a batch larger than any acknowledged one, and than LL_SINK_CAUTIOUS_BYTES, is tried alone: until it is
 * settled, no other one may be that large. */
size_t ll_route_limit(ll_route *route);

#endif
