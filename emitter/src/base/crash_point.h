/* Points between two steps of the protocol in slots.h where a test kills its own process.
 *
 *   LIFELINE_CRASH_POINT=sealed-unsent:3   SIGKILL at the third passing of that point, by any thread
 *
 * Compiled in only with -DLIFELINE_CRASH_POINTS=ON (scripts/build crash). The parent process recognises that the point
 * was reached by the termination signal, SIGKILL. The points, in the order of a batch's life:
 *
 *   context-written        the file has the next session's context, and boundaries that nobody looks at yet
 *   context-changed        events from now on belong to that context; no batch has it
 *   context-applied        the next batch of a route has it
 *   context-skipped        a route far behind has given up sessions' contexts that the file is about to overwrite
 *   stamped-unsealed       the file's version allows for large batches; the first one is not yet sealed
 *   sealed-unfreed         the batch is sealed; its events are still in the rings, above the tails
 *   sealed-unsent          the tails have moved; only the slot has the events
 *   sent-unacknowledged    the sink has the bytes
 *   acknowledged-unfreed   the broker has acknowledged the batch; its slot is not yet free
 *   spooled-unfreed        both the spool and the slot have the batch
 *   giving-up-announced    the spool is full; its counters name what will be discarded, which still exists
 *   given-up-uncounted     discarded, but not yet counted in the totals
 *   given-up-unremoved     counted in the totals, but its file still exists
 *   finished-unremoved     everything is delivered, but the file still exists and can be recovered again
 *   damaged-linked         a damaged file has a second name; its repaired copy has not yet taken the first
 */
#ifndef LIFELINE_CRASH_POINT_H
#define LIFELINE_CRASH_POINT_H

#ifdef LIFELINE_CRASH_POINTS
void ll_crash_point(const char *name);
#else
#define ll_crash_point(name) ((void)0)
#endif

#endif
