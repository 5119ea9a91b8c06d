/* What a recovery does with a ring file that is valid but damaged: a bit flipped in memory, or the program wrote into
 * it.
 *
 * Nothing that readers would reject is sent, and nothing is deleted that was not delivered. The file is kept under
 * another name, and a copy takes its place, which has all that can be read:
 *
 *  - A sealed batch whose CRC does not fit is refused, so that its events are counted.
 *  - Events of a type whose descriptor is damaged are left out, and counted as dropped_shutdown.
 *  - Where a ring's records make no sense, it ends. How many events were behind is unknown.
 */
#ifndef LIFELINE_SALVAGE_H
#define LIFELINE_SALVAGE_H

#include "ring/ringfile.h"
#include "ring/types.h"

typedef struct ll_damage {
  uint64_t batches; /* sealed batches that readers would reject */
  uint64_t events;  /* whose type is damaged, or that readers would reject */
  uint64_t bytes;   /* of rings, in which no record can be found */
  bool books;       /* what a slot says about its batch differs from the batch */
} ll_damage;

/* Looks at every sealed batch and every record, after the tails were taken over. False with nothing damaged. */
bool ll_damage_find(const ll_store *store, const ll_types *types, ll_damage *damage);

/* Makes a copy without the damaged parts take the file's place. False with a line in why: the file is as before. */
bool ll_salvage(const ll_store *store, const ll_types *types, char *why, size_t why_bytes);

/* Describes the damage, as part of a line. */
void ll_damage_describe(const ll_damage *damage, char *text, size_t bytes);

#endif
