/* Stores of activations: a KV bucket, a compacted topic or a trigger file. */
#ifndef LIFELINE_ACTIVATE_STORE_H
#define LIFELINE_ACTIVATE_STORE_H

#include <stdbool.h>
#include <stddef.h>

enum { ERROR_BYTES = 512 };

typedef struct activation {
  char *id;
  char *line;
  size_t number; /* in the order of reading */
} activation;

typedef struct activations {
  activation *at;
  size_t count;
  size_t room;
} activations;

/* Adds a copy of a record. A NULL line means that the activation has ended. */
void activations_put(activations *all, const char *id, size_t id_bytes, const char *line, size_t line_bytes);

/* Keeps the last line of each id, sorted by id, without ended activations. Fast enough for a topic with a million
 * records. */
void activations_settle(activations *all);

void activations_free(activations *all);

typedef struct store store;

/* Operations of one kind of store. All but close write one line into error on failure. */
typedef struct store_kind {
  store *(*open)(const char *url, char error[ERROR_BYTES]);
  bool (*read)(store *s, activations *all, char error[ERROR_BYTES]); /* call activations_settle after it */
  bool (*put)(store *s, const char *id, const char *line, char error[ERROR_BYTES]);
  bool (*remove)(store *s, const char *id, char error[ERROR_BYTES]);
  void (*close)(store *s);
  bool id_in_line; /* the line ends with the option id= */
} store_kind;

extern const store_kind store_nats, store_kafka, store_file;

#endif
