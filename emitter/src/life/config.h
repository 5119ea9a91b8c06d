/* What the options and the environment ask for, checked. The options go before the environment, except that
 * LIFELINE=off always wins: it is the user's switch. */
#ifndef LIFELINE_CONFIG_H
#define LIFELINE_CONFIG_H

#include "resolution/resolution.h"
#include "route/streams.h"

#include <lifeline/lifeline.h>
#include <limits.h>
#include <stdbool.h>

typedef struct ll_config {
  bool on;
  char ring_dir[PATH_MAX - 256];         /* absolute; leaves room for the file's name */
  char session_ring_dir[PATH_MAX - 256]; /* where earlier runs may have left files, too; or empty */
  size_t budget_bytes;
  unsigned interval_ms;
  ll_policy policy;
  unsigned block_timeout_ms;
  unsigned flush_timeout_ms;
  bool patient; /* which somebody has set: it holds for sinks that were never reached, too */
  ll_clock_kind clock;
  ll_activation_settings activations;
  ll_stream_settings streams;
  uint8_t context[16384]; /* as it travels */
  unsigned context_bytes;
  unsigned context_count;
} ll_config;

/* Returns false with one line in why when a value is bad. `options` may be NULL. */
bool ll_config_load(ll_config *config, const ll_options *options, char *why, size_t why_bytes);

/* The directory that ring files lie in by default or by LIFELINE_RING_DIR; below XDG_RUNTIME_DIR when the default one
 * is another user's. False when it is too long. */
bool ll_config_ring_dir(const char *option, char *directory, size_t directory_bytes);

/* The directory below XDG_RUNTIME_DIR, which an earlier run may have used although this one does not. False when a
 * directory was given, or there is none. */
bool ll_config_session_ring_dir(const char *option, char *directory, size_t directory_bytes);

/* The spool's directory, made absolute; empty when none is asked for. False when it is too long. */
bool ll_config_spool_dir(const char *option, char *directory, size_t directory_bytes);

#endif
