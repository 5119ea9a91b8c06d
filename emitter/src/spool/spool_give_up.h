/* Giving up what the spool has no room for, or the sink will never have, so that the count is exact even when the
 * process is killed in the middle: announce, do, count. See spool.h. */
#ifndef LIFELINE_SPOOL_GIVE_UP_H
#define LIFELINE_SPOOL_GIVE_UP_H

#include "spool.h"

/* Removes the segment, of which that many events count as dropped for want of room, and as refused by the sink. It
 * stays as a file of kind `keep`, unless that is LL_SPOOL_KINDS. Returns 0; ENOENT when somebody removed it before, or
 * what the filesystem says: then nothing is counted. */
int ll_give_up_segment(ll_spool *spool, int directory, uint32_t number, uint64_t full, uint64_t refused,
                       ll_spool_kind keep);

/* Frees the slot of that sealed batch, which no sink has ever seen. */
void ll_give_up_slot(ll_spool *spool, uint32_t slot, uint64_t sequence);

/* Frees the slot of that refused batch, whose events the spool's books count from now on, without a spool, too. */
void ll_give_up_refused(ll_store *store, uint32_t route, uint32_t slot);

/* What a dead process was giving up is counted, or was not given up, and the books are right. `program` is its name.
 * False with a line in why when that cannot be told now. */
bool ll_give_up_resolve(ll_store *store, uint32_t route, const char *program, char *why, size_t why_bytes);

#endif
