/* The library's exit handlers run last. A program often writes in handlers of its own, registered before its first
 * operation started the emitter: they would run after the emitter has stopped. */
#ifndef LIFELINE_PRELOAD_LAST_H
#define LIFELINE_PRELOAD_LAST_H

/* Runs what was kept back. */
void io_last_run(void);

#endif
