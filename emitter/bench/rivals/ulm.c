/* ULM, the text format of NetLogger before 2002: name=value pairs, including the constant ones in every event. */
#include "rival.h"
#include "text-time.h"

static void emit(uint64_t events) {
  for (uint64_t i = 0; i < events; i++) {
    text_time now;
    read_text_time(&now, "%Y%m%d%H%M%S");
    int written =
        snprintf((char *)rival_room(), RIVAL_EVENT_MAX,
                 "DATE=%s.%06ld HOST=foo.lbl.gov PROG=MY_PROGRAM LVL=Usage NL.EVNT=MY_EVENT MY_INT=%d MY_FLOAT=%f\n",
                 now.second, now.microseconds, (int)i, (double)(float)i);
    rival_wrote((size_t)written);
  }
}

int main(int argc, char **argv) {
  return rival_main(argc, argv, &(rival){.emit = emit, .bytes = rival_bytes, .burst = 10000});
}
