/* Validates a ring file before a recovery uses it: every count, length, offset and position that it reads, and every
 * text that it puts into batches. A file that passes makes the recovery touch nothing outside of the file, and overrun
 * no slot. Whether what it holds is undamaged is a second question: see route/salvage.h.
 *
 * Only processes of the same user can write the file, and its owner and earlier recoveries are dead.
 */
#ifndef LIFELINE_VALIDATE_H
#define LIFELINE_VALIDATE_H

#include "ringfile.h"

/* The header and the rings' headers, of which every page is allocated. Returns NULL, or the fault. */
const char *ll_validate_header(const ll_store *store);

/* The slots of a file whose header is valid. Returns NULL, or the fault. */
const char *ll_slots_fault(const ll_store *store);

/* All the rest, once every part that the header describes is allocated. Returns NULL, or the fault. */
const char *ll_validate_contents(const ll_store *store);

#endif
