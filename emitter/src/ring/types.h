/* The registry of event types: numbers, and descriptors as they travel.
 *
 * It lies in private memory, which a forked child inherits with the numbers that its code already uses; what each
 * emitter registered is copied into its file, for the recovery. Append-only: a reader needs no lock.
 */
#ifndef LIFELINE_TYPES_H
#define LIFELINE_TYPES_H

#include "ringfile.h"

#include <lifeline/lifeline.h>

#define LL_DESCRIPTOR_MAX 8192

/* How to walk over a record. */
typedef struct ll_shape {
  const uint8_t *descriptor;
  uint32_t descriptor_bytes;
  uint32_t record_bytes; /* of each record; 0: depends on its fields */
  const uint8_t *field_codes;
  uint32_t field_count;
} ll_shape;

/* What makes sense of type numbers: one for this process, one for each file under recovery. */
typedef struct ll_types {
  ll_shape *shapes; /* by number; 65536 of them, mostly untouched memory */
  uint8_t *arena;   /* descriptors one after the other, then... */
  uint8_t *codes;   /* ...the fields' codes of each */
  uint32_t arena_used;
  uint32_t codes_used;
  uint32_t count;
} ll_types;

/* Returns 0 or ENOMEM. */
int ll_types_create(ll_types *types);
void ll_types_free(ll_types *types);

/* Gives the type its number: the one that an equal type has already, or the next. Returns LL_TYPE_REFUSED with a line
 * in why when the declaration is not legal or there is no room. One caller at a time. */
uint32_t ll_types_register(ll_types *types, const ll_event_type *type, char *why, size_t why_bytes);

/* Copies to the file what it does not have yet. False: no room on the filesystem. One caller at a time. */
bool ll_types_save(const ll_types *types, ll_store *store);

/* Reads the types of a file that was left behind. NULL, or what is wrong with them. */
const char *ll_types_load(ll_types *types, const ll_store *store);

/* The length of the record at `at`, of which `available` bytes may be read; 0 when it is no legal record. */
size_t ll_record_bytes(const ll_types *types, const uint8_t *at, size_t available);

#endif
