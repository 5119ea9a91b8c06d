/* The trigger file (schemas/ACTIVATION.md, section 2), which the harvester checks every second. Its contents are passed
 * to ll_resolution_file; errors are logged once. */
#ifndef LIFELINE_TRIGGERS_H
#define LIFELINE_TRIGGERS_H

#include <stdint.h>

/* Checks the file for the first time. An empty path: no file. The path must stay valid. */
void ll_triggers_begin(const char *path);

/* Checks the file again, if due. */
void ll_triggers_tick(void);
uint64_t ll_triggers_due_ns(void);

#endif
