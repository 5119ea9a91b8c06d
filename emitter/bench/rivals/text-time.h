/* The time of day in microseconds as text, at minimal cost: the text of a second is formatted once. */
#ifndef BENCH_TEXT_TIME_H
#define BENCH_TEXT_TIME_H

#include <stdio.h>
#include <time.h>

typedef struct text_time {
  char second[24];
  long microseconds;
} text_time;

static inline void read_text_time(text_time *now, const char *format) {
  static __thread time_t known;
  static __thread char digits[24];
  struct timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  if (at.tv_sec != known) {
    struct tm parts;
    known = at.tv_sec;
    gmtime_r(&known, &parts);
    strftime(digits, sizeof digits, format, &parts);
  }
  __builtin_memcpy(now->second, digits, sizeof digits);
  now->microseconds = at.tv_nsec / 1000;
}

#endif
