/* A sink delivers sealed batches to the destination of a route's URL.
 *
 * Every sink except null: and file: is a shared object, lifeline-sink-<scheme>.so, loaded from the install directory
 * only, so that the core depends on libc alone. It exports one symbol, LL_SINK_ENTRY, of type ll_sink_plugin. Only the
 * harvester calls it, from one thread. A sink never prints and never exits: it reports through ll_sink_host. Messages
 * quote only the keys of a URL: the rest may be secret.
 */
#ifndef LIFELINE_SINK_H
#define LIFELINE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LL_SINK_ABI 5
#define LL_SINK_ENTRY ll_sink_plugin_v5

/* The largest batch while the broker's limit is unknown. */
enum { LL_SINK_CAUTIOUS_BYTES = 312 << 10 };

typedef struct ll_sink ll_sink; /* each sink defines its own */

typedef enum ll_sink_outcome {
  LL_SINK_ACKED,   /* stored by the broker (core NATS: handed to the socket): the slot may be freed */
  LL_SINK_RETRY,   /* not known to be stored: send the same bytes again later */
  LL_SINK_REFUSED, /* will never be stored (too large, forbidden): count its events as dropped_sink */
} ll_sink_outcome;

typedef enum ll_sink_log_level { LL_SINK_ERROR, LL_SINK_WARN, LL_SINK_INFO } ll_sink_log_level;

/* One activation as read from the control topic, not validated. */
typedef struct ll_control_message {
  const char *id; /* id_bytes long; like line, not NUL-terminated */
  size_t id_bytes;
  const char *line; /* NULL: the activation has ended */
  size_t line_bytes;
  int64_t written_ms; /* when the broker stored it, Unix time; 0 if unknown */
} ll_control_message;

/* The host's interface for the sink. Valid as long as the sink. */
typedef struct ll_sink_host {
  const char *url; /* as configured, secrets included */
  const char *host_name;
  const char *program;
  uint8_t incarnation[16];
  bool first_hand; /* batches are sealed by this process: no other sink has sent them */

  void *ctx;
  /* Any thread, any time; must not block. The sink must suppress repeated reports of a state. */
  void (*log)(void *ctx, ll_sink_log_level level, const char *message);
  /* Called exactly once for each batch that send accepted, from any thread. After it the sink must not access the
   * bytes. */
  void (*done)(void *ctx, uint64_t token, ll_sink_outcome outcome, const char *why);

  /* Contents of the control topic, reported once watch was called. Any thread, one at a time, until close returns; the
   * host copies all data. The calls between control_begin and control_complete are one reading of the whole topic:
   * activations that it does not mention have ended. Later calls report changes as they occur. A sink that may have
   * missed changes reads the whole topic again. */
  void (*control_begin)(void *ctx);
  void (*control)(void *ctx, const ll_control_message *message);
  void (*control_complete)(void *ctx);
} ll_sink_host;

typedef enum ll_sink_status {
  LL_SINK_OK,
  LL_SINK_BUSY,   /* limit of batches in flight reached, or not connected: retry after poll */
  LL_SINK_FAILED, /* this batch can never be sent; done is not called */
} ll_sink_status;

typedef struct ll_sink_plugin {
  uint32_t abi; /* LL_SINK_ABI */
  const char *scheme;

  /* Validates the URL and starts to connect, without waiting for the broker. On failure returns NULL and writes one
   * line to error. */
  ll_sink *(*open)(const ll_sink_host *host, char *error, size_t error_bytes);

  /* Submits one batch. The bytes stay valid and unchanged until done is called with this token. */
  ll_sink_status (*send)(ll_sink *sink, uint64_t token, const uint8_t *batch, size_t bytes, uint16_t route,
                         uint64_t sequence);

  /* Processes acknowledgements, waiting for at most timeout_ms; 0 does not wait. */
  void (*poll)(ll_sink *sink, int timeout_ms);

  /* The largest batch that may be made, before compression; 0 while the server's limit is unknown: then
   * LL_SINK_CAUTIOUS_BYTES. It is checked for each batch that is sealed. Batches sealed earlier may be larger. */
  size_t (*max_batch_bytes)(ll_sink *sink);

  /* Abandons batches in flight (done with LL_SINK_RETRY) and frees the sink. To wait for them, call poll first.
   * Bounded: returns within two seconds even when the broker hangs. */
  void (*close)(ll_sink *sink);

  /* Starts reading the control topic, unless the URL says control=off. NULL in a sink without one. A topic that is
   * missing or unreadable is logged once and retried periodically; it never delays batches. */
  void (*watch)(ll_sink *sink);

  /* Whether a connection ever existed: an exiting program no longer waits for a broker, or a file, that it never
   * reached. NULL in a sink that is always there. */
  bool (*reached)(ll_sink *sink);

  /* Number of threads of this process that all sinks of the kind own, those of client libraries included. A process in
   * which only these and the harvester are left is ended: a thread too few delays that, a thread too many kills the
   * program. Any thread. NULL in a sink without threads. */
  uint32_t (*threads)(void);
} ll_sink_plugin;

#endif
