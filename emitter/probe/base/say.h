/* Messages of the probe: one line each on standard error, and a condition that lasts is reported once. */
#ifndef LIFELINE_PROBE_SAY_H
#define LIFELINE_PROBE_SAY_H

#include <stdbool.h>

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Only the first time that this line of code is reached. */
#define SAY_ONCE(...)                                                                                                  \
  do {                                                                                                                 \
    static bool said;                                                                                                  \
    if (!said) say(__VA_ARGS__);                                                                                       \
    said = true;                                                                                                       \
  } while (0)

#endif
