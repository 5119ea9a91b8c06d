/* Another way to record the same event: a timestamp, an i32, an f32, and constant names. Each rival is a program,
 * measured like bench-emit: bursts alternate with the floor. */
#ifndef BENCH_RIVAL_H
#define BENCH_RIVAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rival {
  void (*emit)(uint64_t events);
  void (*drain)(void);    /* after each burst, not timed: waits until the rival has stored it; NULL: not needed */
  double (*bytes)(void);  /* per event; NULL: measured elsewhere */
  uint64_t (*lost)(void); /* events lost; NULL: none possible, or counted elsewhere */
  uint64_t burst;         /* events that its buffers hold */
  void (*finish)(void);   /* closes its files, or NULL */
} rival;

/* The rival's main function. */
int rival_main(int argc, char **argv, const rival *measured);

/* For rivals that only encode: a buffer of 128 KiB, written to /dev/null when full, as in the paper. */
enum { RIVAL_BUFFER_BYTES = 128 << 10, RIVAL_EVENT_MAX = 1024 };

uint8_t *rival_room(void);      /* for one event of at most RIVAL_EVENT_MAX bytes */
void rival_wrote(size_t bytes); /* number of bytes used */
double rival_bytes(void);

#ifdef __cplusplus
}
#endif

#endif
