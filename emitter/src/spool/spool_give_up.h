/* Discards what the spool has no room for, or what the sink has refused, with exact counts even if the process is
 * killed meanwhile: announce, discard, count. See spool.h. */
#ifndef LIFELINE_SPOOL_GIVE_UP_H
#define LIFELINE_SPOOL_GIVE_UP_H

#include "spool.h"

/* Removes the segment; `full` of its events count as dropped for lack of room, `refused` as refused by the sink. It is
 * kept as a file of kind `keep`, unless that is LL_SPOOL_KINDS. Returns 0; on failure, an errno value and counts
 * nothing: ENOENT when the segment was removed before, otherwise the filesystem's. */
int ll_give_up_segment(ll_spool *spool, int directory, uint32_t number, uint64_t full, uint64_t refused,
                       ll_spool_kind keep);

/* Frees the slot of that sealed batch, which was never handed to a sink. */
void ll_give_up_slot(ll_spool *spool, uint32_t slot, uint64_t sequence);

/* Frees the slot of that refused batch, whose events the spool's counters count from now on. Works without a spool,
 * too. */
void ll_give_up_refused(ll_store *store, uint32_t route, uint32_t slot);

/* Completes the accounting of a discard that a dead process announced: counts it if it took place. `program` is the
 * process's name. False with a line in why when this cannot be determined now. */
bool ll_give_up_resolve(ll_store *store, uint32_t route, const char *program, char *why, size_t why_bytes);

#endif
