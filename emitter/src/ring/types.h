/* The registry of event types: numbers, and descriptors in wire format.
 *
 * It is kept in private memory, which a forked child inherits together with the numbers that its code already uses;
 * each emitter copies its registered types into its file, for recovery. Append-only: readers need no lock.
 */
#ifndef LIFELINE_TYPES_H
#define LIFELINE_TYPES_H

#include "descriptor.h"
#include "ringfile.h"

#include <lifeline/lifeline.h>

/* The layout of a record. */
typedef struct ll_shape {
  const uint8_t *descriptor;
  uint32_t descriptor_bytes;
  uint32_t record_bytes; /* length of each record; 0: depends on its fields */
  const uint8_t *field_codes;
  uint32_t field_count;
  uint16_t next; /* the registered type with the next lower number in the same chain; 0: none */
  bool doubtful; /* only in a file under recovery: the descriptor is damaged, so the layout may be wrong */
} ll_shape;

/* The meaning of type numbers: one instance for this process, one for each file under recovery. */
typedef struct ll_types {
  ll_shape *shapes; /* by number; 65536 of them, mostly untouched memory */
  uint8_t *arena;   /* concatenated descriptors */
  uint8_t *codes;   /* field codes of each descriptor */
  uint32_t arena_used;
  uint32_t codes_used;
  uint32_t count;
  bool full;             /* a type did not fit, and a line was logged */
  uint16_t chains[1024]; /* the latest registered types, by the hash of their descriptors */
} ll_types;

/* Returns 0 or ENOMEM. */
int ll_types_create(ll_types *types);
void ll_types_free(ll_types *types);

/* Assigns the type its number: that of an equal type, or the next one. Returns LL_TYPE_REFUSED when the declaration
 * is invalid or there is no room, with a line in `why`, which is empty if there was no room before. One caller at a
 * time. */
uint32_t ll_types_register(ll_types *types, const ll_event_type *type, char *why, size_t why_bytes);

/* Copies new descriptors to the file. False: no room on the filesystem. One caller at a time. */
bool ll_types_save(const ll_types *types, ll_store *store);

/* Reads the types of an existing file. A damaged descriptor hides no other: the next undamaged one is found by its
 * hash. `count` becomes the highest number of an undamaged or doubtful type. */
void ll_types_load(ll_types *types, const ll_store *store);

/* The length of the record at `at`, of which `available` bytes may be read; 0 when it is invalid. */
size_t ll_record_bytes(const ll_types *types, const uint8_t *at, size_t available);

#endif
