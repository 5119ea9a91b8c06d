/* The same pairs as XML. The paper does not show the elements, but says that they are longer than ULM's. */
#include "rival.h"
#include "text-time.h"

static void emit(uint64_t events) {
  for (uint64_t i = 0; i < events; i++) {
    text_time now;
    read_text_time(&now, "%Y-%m-%dT%H:%M:%S");
    int written = snprintf((char *)rival_room(), RIVAL_EVENT_MAX,
                           "<event name=\"MY_EVENT\" date=\"%s.%06ldZ\" host=\"foo.lbl.gov\" program=\"MY_PROGRAM\">"
                           "<value name=\"MY_INT\" type=\"int\">%d</value>"
                           "<value name=\"MY_FLOAT\" type=\"float\">%f</value></event>\n",
                           now.second, now.microseconds, (int)i, (double)(float)i);
    rival_wrote((size_t)written);
  }
}

int main(int argc, char **argv) {
  return rival_main(argc, argv, &(rival){.emit = emit, .bytes = rival_bytes, .burst = 10000});
}
