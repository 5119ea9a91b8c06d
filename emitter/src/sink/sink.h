/* A sink takes sealed batches to where a route's URL points.
 *
 * Every sink but null: and file: is a shared object of its own, lifeline-sink-<scheme>.so, loaded from the install
 * directory only, so that the core depends on libc alone. It exports one symbol, LL_SINK_ENTRY, of type
 * ll_sink_plugin. The harvester is the only caller; it calls from one thread. A sink never prints and never exits:
 * it reports through ll_sink_host. Of a URL, a message quotes keys only: the rest may be secret.
 */
#ifndef LIFELINE_SINK_H
#define LIFELINE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LL_SINK_ABI 4
#define LL_SINK_ENTRY ll_sink_plugin_v4

typedef struct ll_sink ll_sink; /* each sink defines its own */

typedef enum ll_sink_outcome {
  LL_SINK_ACKED,   /* stored by the broker (core NATS: handed to the socket): the slot may be freed */
  LL_SINK_RETRY,   /* not known to be stored: send the same bytes again later */
  LL_SINK_REFUSED, /* will never be stored (too large, forbidden): count its events as dropped_sink */
} ll_sink_outcome;

typedef enum ll_sink_log_level { LL_SINK_ERROR, LL_SINK_WARN, LL_SINK_INFO } ll_sink_log_level;

/* One activation, as it stands on the control topic. Nothing of it is checked. */
typedef struct ll_control_message {
  const char *id; /* id_bytes long, as the line is: no terminator */
  size_t id_bytes;
  const char *line; /* NULL: the activation has ended */
  size_t line_bytes;
  int64_t written_ms; /* when the broker stored it, Unix time; 0 if that is not known */
} ll_control_message;

/* What the sink may use of its host. Lives as long as the sink. */
typedef struct ll_sink_host {
  const char *url; /* as configured, secrets included */
  const char *host_name;
  const char *program;
  uint8_t incarnation[16];
  bool first_hand; /* batches are sealed by this process: no other sink has sent them */

  void *ctx;
  /* Any thread, any time; must not block. Repeats of one state are the sink's to suppress. */
  void (*log)(void *ctx, ll_sink_log_level level, const char *message);
  /* Exactly once for each batch that send accepted; any thread. After it the bytes are the host's again. */
  void (*done)(void *ctx, uint64_t token, ll_sink_outcome outcome, const char *why);

  /* What the control topic says, once watch was called. Any thread, one at a time, until close returns; all is copied.
   * A reading of the whole topic lies between two calls: what it does not mention has ended. After it come changes, as
   * they are made. A sink that may have missed some reads the whole topic again. */
  void (*control_begin)(void *ctx);
  void (*control)(void *ctx, const ll_control_message *message);
  void (*control_complete)(void *ctx);
} ll_sink_host;

typedef enum ll_sink_status {
  LL_SINK_OK,
  LL_SINK_BUSY,   /* bound of batches in flight reached, or not connected: try again after poll */
  LL_SINK_FAILED, /* this batch can never be sent; done is not called */
} ll_sink_status;

typedef struct ll_sink_plugin {
  uint32_t abi; /* LL_SINK_ABI */
  const char *scheme;

  /* Checks the URL and starts to connect; returns without waiting for the broker. On failure returns NULL and writes
   * one line into error. */
  ll_sink *(*open)(const ll_sink_host *host, char *error, size_t error_bytes);

  /* Hands over one batch. The bytes stay valid and unchanged until done is called with this token. */
  ll_sink_status (*send)(ll_sink *sink, uint64_t token, const uint8_t *batch, size_t bytes, uint16_t route,
                         uint64_t sequence);

  /* Lets acknowledgements in, for at most timeout_ms; 0 only looks. */
  void (*poll)(ll_sink *sink, int timeout_ms);

  /* The largest batch that the server takes, headers subtracted; 0 while it is not known. */
  size_t (*max_batch_bytes)(ll_sink *sink);

  /* Gives up what is in flight (done with LL_SINK_RETRY) and frees the sink. Call poll first to wait. Bounded: returns
   * within two seconds even when the broker hangs. */
  void (*close)(ll_sink *sink);

  /* Begins to read the control topic, unless the URL says control=off. NULL in a sink that has none. A topic that is
   * missing or may not be read is said once and looked for again now and then; it is never in the way of batches. */
  void (*watch)(ll_sink *sink);

  /* Whether there ever was a connection: a program that ends waits no longer for a broker that it never reached. NULL
   * in a sink that needs none. */
  bool (*reached)(ll_sink *sink);
} ll_sink_plugin;

#endif
