/* Answers to the control topic: events that tell operators which emitters an activation has reached, and what became of
 * it there (schemas/ACTIVATION.md, section 6). Called by the harvester's thread, without the lock. An answer for which
 * there is no room in the ring is left out. */
#ifndef LIFELINE_ANSWER_H
#define LIFELINE_ANSWER_H

void ll_answer_start(const char *id, const char *line);
void ll_answer_end(const char *id, const char *reason);
void ll_answer_refused(const char *id, const char *line, const char *reason);

#endif
