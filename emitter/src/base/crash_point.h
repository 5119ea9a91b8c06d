/* Places between two steps of the protocol in slots.h, at which a test has this very process die.
 *
 *   LIFELINE_CRASH_POINT=sealed-unsent:3   SIGKILL at the third passing of that point, by whichever thread
 *
 * Ordinary builds have none of this: only -DLIFELINE_CRASH_POINTS=ON (scripts/build crash) compiles it in. Whoever
 * started the process sees from its end, SIGKILL, that the point was reached. The points, in the order of a batch's
 * life:
 *
 *   sealed-unfreed         the batch is sealed, and its events are in the rings too: the tails stand below them
 *   sealed-unsent          the tails have moved; nobody but the slot has the events
 *   sent-unacknowledged    the sink has the bytes
 *   acknowledged-unfreed   the broker has them, and the slot does not know it yet
 *   spooled-unfreed        the spool has the batch, and so has its slot
 *   giving-up-announced    the spool is full, its books say what is about to be given up, and it is still there
 *   given-up-uncounted     it is gone, and the totals do not know it yet
 *   given-up-unremoved     they know it, and its file is still there
 *   finished-unremoved     all is delivered, and the file is still there to be recovered once more
 */
#ifndef LIFELINE_CRASH_POINT_H
#define LIFELINE_CRASH_POINT_H

#ifdef LIFELINE_CRASH_POINTS
void ll_crash_point(const char *name);
#else
#define ll_crash_point(name) ((void)0)
#endif

#endif
