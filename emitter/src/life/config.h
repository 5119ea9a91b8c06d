/* What the options and the environment ask for, checked. The options go before the environment, except that
 * LIFELINE=off always wins: it is the user's switch. */
#ifndef LIFELINE_CONFIG_H
#define LIFELINE_CONFIG_H

#include "sink/routes.h"

#include <lifeline/lifeline.h>
#include <limits.h>
#include <stdbool.h>

#define LL_TEXT_MAX 4096

/* What becomes of batches that the full spool has no room for. */
typedef enum ll_spool_full { LL_SPOOL_DROP_OLDEST, LL_SPOOL_DROP_NEWEST, LL_SPOOL_BLOCK } ll_spool_full;

/* When the spool's files are synced: what a crash of the machine, not of the process, may cost. */
typedef enum ll_spool_sync { LL_SPOOL_SYNC_INTERVAL, LL_SPOOL_SYNC_NEVER, LL_SPOOL_SYNC_ALWAYS } ll_spool_sync;

typedef struct ll_spool_settings {
  char directory[LL_SPOOL_PATH_MAX]; /* absolute; empty: there is no spool */
  uint64_t bytes;
  ll_spool_full full;
  ll_spool_sync sync;
} ll_spool_settings;

/* What schemas/ACTIVATION.md says about these. */
typedef struct ll_activation_settings {
  char resolution[16384];
  char triggers[PATH_MAX]; /* absolute; empty: there is no file */
  char never[LL_TEXT_MAX];
  uint64_t for_most_ns;
  uint64_t events_per_second; /* 0: without limit */
} ll_activation_settings;

typedef struct ll_config {
  bool on;
  char url[LL_TEXT_MAX];
  ll_routes routes;
  char ring_dir[PATH_MAX - 256];         /* absolute; leaves room for the file's name */
  char session_ring_dir[PATH_MAX - 256]; /* where earlier runs may have left files, too; or empty */
  char program[256];
  char host[256];
  const char *compression; /* auto, none, lz4 or zstd */
  size_t budget_bytes;
  size_t batch_bytes;
  unsigned interval_ms;
  ll_policy policy;
  unsigned block_timeout_ms;
  unsigned flush_timeout_ms;
  bool patient; /* which somebody has set: it holds for sinks that were never reached, too */
  ll_clock_kind clock;
  ll_spool_settings spool;
  ll_activation_settings activations;
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
