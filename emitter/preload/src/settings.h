/* Settings of the preload, from the environment that `lifeline run` sets. */
#ifndef LIFELINE_PRELOAD_SETTINGS_H
#define LIFELINE_PRELOAD_SETTINGS_H

#include "io.h"

enum {
  IO_TARGETS_DEFAULT = 1024,
  IO_TARGETS_MOST = 1024, /* the table has room for a few more, so that few names share a full bucket */
  IO_REDACT_BYTES = 2048,
  IO_PAGE_BYTES = 128,
};

typedef enum io_names { IO_NAMES_FULL, IO_NAMES_HASH, IO_NAMES_NONE } io_names;

typedef struct io_settings {
  bool on;
  bool measured[IO_KINDS][IO_WAYS];
  bool waits;
  io_names names;
  uint64_t key[2]; /* of hashed names */
  uint32_t targets;
  char page[IO_PAGE_BYTES];     /* file of the run's table; empty: none, every process is an emitter */
  char redact[IO_REDACT_BYTES]; /* patterns, each with a closing 0, then an empty one */
} io_settings;

/* Fills in the settings from variables that `get` returns. False, with the reason in `why`: a value is bad. */
bool io_settings_load(io_settings *settings, char *(*get)(const char *variable), char *why, size_t why_bytes);

/* Parses a list such as "disk,net,fsync" into measured and waits. */
bool io_settings_for(io_settings *settings, const char *list, char *why, size_t why_bytes);

/* Parses 32 hexadecimal digits. */
bool io_settings_key(uint64_t key[2], const char *digits);

#endif
