/* Activation: switches on details in a running program, from outside and for a limited time.
 *
 *   export LIFELINE_URL=file:///tmp/activation.llb LIFELINE_TRIGGERS=/tmp/triggers
 *   LIFELINE_RESOLUTION='* off level>=debug' ./lifeline-activation 10 &
 *   printf 'example.packet sample:10 when nbytes>1000 for=5s\nend\n' > /tmp/triggers
 *   wait; lifeline-cat --format bp /tmp/activation.llb
 *
 * Until the file exists, a packet costs the program the test of one flag. schemas/ACTIVATION.md describes the lines.
 */
#include <lifeline/lifeline.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

LL_EVENT(second, "example.second", LL_INFO, (u32, number, ""), (u64, packets, ""));
LL_EVENT(packet, "example.packet", LL_DEBUG, (u64, number, ""), (u32, nbytes, "B"));

int main(int argc, char **argv) {
  static const struct timespec pause = {0, 1000000};
  uint32_t seconds = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 5;
  uint64_t packets = 0;
  time_t start = time(NULL);
  for (uint32_t now, before = 0; (now = (uint32_t)(time(NULL) - start)) < seconds; before = now) {
    if (now != before) ll_emit(second, now, packets);
    packets++;
    ll_emit(packet, packets, (uint32_t)(packets * 37 % 1500));
    nanosleep(&pause, NULL);
  }
  return 0;
}
