/* Validated settings from the options and the environment. Options override the environment, except that LIFELINE=off
 * always wins: it is the user's switch. */
#ifndef LIFELINE_CONFIG_H
#define LIFELINE_CONFIG_H

#include "resolution/resolution.h"
#include "route/streams.h"

#include <lifeline/lifeline.h>
#include <lifeline/session.h>
#include <limits.h>
#include <stdbool.h>

typedef struct ll_config {
  bool on;
  char ring_dir[PATH_MAX - 256];         /* absolute; leaves room for a file name */
  char session_ring_dir[PATH_MAX - 256]; /* directory where earlier runs may have left files, too; or empty */
  size_t budget_bytes;
  uint64_t memory_limit; /* of the control group; UINT64_MAX: none */
  unsigned interval_ms;
  ll_policy policy;
  unsigned block_timeout_ms;
  unsigned flush_timeout_ms;
  bool patient; /* flush_timeout_ms was set explicitly: it also applies to sinks that were never reached */
  ll_clock_kind clock;
  ll_activation_settings activations;
  ll_stream_settings streams;
  uint8_t context[16384]; /* in wire format */
  unsigned context_bytes;
  unsigned context_count;
  ll_session session; /* that the process belongs to from its start; an ID of 0: none. Read even if it is off */
  bool traced;        /* TRACEPARENT names it */
} ll_config;

/* Returns false with one line in why when a value is invalid. `options` may be NULL. */
bool ll_config_load(ll_config *config, const ll_options *options, char *why, size_t why_bytes);

/* The directory of ring files: the option, LIFELINE_RING_DIR, or the default; below XDG_RUNTIME_DIR if the default one
 * belongs to another user. False when it is too long. */
bool ll_config_ring_dir(const char *option, char *directory, size_t directory_bytes);

/* The directory below XDG_RUNTIME_DIR, which an earlier run may have used even if this one does not. False when a
 * directory was given, or there is none. */
bool ll_config_session_ring_dir(const char *option, char *directory, size_t directory_bytes);

/* The spool directory as an absolute path; empty when none is configured. False when it is too long. */
bool ll_config_spool_dir(const char *option, char *directory, size_t directory_bytes);

#endif
