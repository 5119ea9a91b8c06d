/* The trigger file (schemas/ACTIVATION.md, section 2), which the harvester looks at each second. What it says goes to
 * ll_resolution_file; what is wrong with it is said once. */
#ifndef LIFELINE_TRIGGERS_H
#define LIFELINE_TRIGGERS_H

#include <stdint.h>

/* Has a first look. An empty path: there is no file. The path stays where it is. */
void ll_triggers_begin(const char *path);

/* Looks again, if it is time to. */
void ll_triggers_tick(void);
uint64_t ll_triggers_due_ns(void);

#endif
