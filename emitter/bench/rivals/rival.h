/* Another way to keep the same event: a timestamp, an i32, an f32, and names that never change. Every rival is one
 * program, measured as bench-emit measures ours: in bursts that take turns with the floor. */
#ifndef BENCH_RIVAL_H
#define BENCH_RIVAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rival {
  void (*emit)(uint64_t events);
  void (*drain)(void);    /* after each burst, outside of the time: until the rival has kept it; NULL: nothing to do */
  double (*bytes)(void);  /* per event, NULL when somebody else has to look */
  uint64_t (*lost)(void); /* events; NULL when it cannot lose any, or somebody else has to look */
  uint64_t burst;         /* events that its buffers hold */
  void (*finish)(void);   /* closes its files; NULL */
} rival;

/* The rival's main function. */
int rival_main(int argc, char **argv, const rival *measured);

/* For those who only encode: a buffer of 128 KiB, given to /dev/null when it is full, as the paper's were. */
enum { RIVAL_BUFFER_BYTES = 128 << 10, RIVAL_EVENT_MAX = 1024 };

uint8_t *rival_room(void);      /* for one event of at most RIVAL_EVENT_MAX bytes */
void rival_wrote(size_t bytes); /* so many of them */
double rival_bytes(void);

#ifdef __cplusplus
}
#endif

#endif
