/* bench-bytes: emits a known number of events in batches of about 64 KiB, whose size is measured at the destination.
 * --values counter emits one type with increasing values; random emits eight types with random values. */
#include "options.h"

#include <lifeline/lifeline.h>

#include <getopt.h>
#include <stdio.h>
#include <string.h>

LL_EVENT(type0, "bench.type0", LL_INFO, (i32, count, ""), (f32, value, ""));
LL_EVENT(type1, "bench.type1", LL_INFO, (i32, count, ""), (f32, value, ""));
LL_EVENT(type2, "bench.type2", LL_INFO, (i32, count, ""), (f32, value, ""));
LL_EVENT(type3, "bench.type3", LL_INFO, (i32, count, ""), (f32, value, ""));
LL_EVENT(type4, "bench.type4", LL_INFO, (i32, count, ""), (f32, value, ""));
LL_EVENT(type5, "bench.type5", LL_INFO, (i32, count, ""), (f32, value, ""));
LL_EVENT(type6, "bench.type6", LL_INFO, (i32, count, ""), (f32, value, ""));
LL_EVENT(type7, "bench.type7", LL_INFO, (i32, count, ""), (f32, value, ""));

static const char usage[] = "Usage: bench-bytes --url URL --values counter|random [--events N]\n"
                            "\n"
                            "--events (2000000). The compression comes from LIFELINE_COMPRESSION.\n";

enum { BATCH_EVENTS = 4060, FLUSH_MS = 30000 }; /* with header and descriptors just below 64 KiB */

static uint64_t state = 88172645463325252u; /* xorshift */

static uint64_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static void emit_random(void) {
  uint64_t random = next_random();
  int32_t count = (int32_t)(random & 0xffff); /* a size, say */
  float value = (float)(random >> 40) / (float)(1 << 24);
  switch (next_random() % 8) {
  case 0: ll_emit(type0, count, value); break;
  case 1: ll_emit(type1, count, value); break;
  case 2: ll_emit(type2, count, value); break;
  case 3: ll_emit(type3, count, value); break;
  case 4: ll_emit(type4, count, value); break;
  case 5: ll_emit(type5, count, value); break;
  case 6: ll_emit(type6, count, value); break;
  default: ll_emit(type7, count, value); break;
  }
}

int main(int argc, char **argv) {
  static const struct option names[] = {{"url", required_argument, NULL, 'u'},
                                        {"values", required_argument, NULL, 'v'},
                                        {"events", required_argument, NULL, 'e'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  uint64_t events = 2000000;
  const char *values = "";
  bool legal = true;
  ll_options options = LL_OPTIONS_INIT;
  options.policy = LL_BLOCK;
  options.batch_bytes = 64 << 10;
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 'u': options.url = optarg; break;
    case 'v': values = optarg; break;
    case 'e': legal = legal && parse_number(optarg, 1, 1u << 30, &events); break;
    case 'h': fputs(usage, stdout); return 0;
    default: legal = false;
    }
  }
  bool counter = strcmp(values, "counter") == 0;
  if (!legal || options.url == NULL || (!counter && strcmp(values, "random") != 0) || optind != argc) {
    fputs("bench-bytes: wrong usage (try --help)\n", stderr);
    return 2;
  }
  if (ll_init(&options) != 0) return 1;
  for (uint64_t i = 0; i < events; i++) {
    if (i % BATCH_EVENTS == 0 && ll_flush(FLUSH_MS) != 0) return 1;
    if (counter)
      ll_emit(type0, (int32_t)i, (float)i);
    else
      emit_random();
  }
  return ll_shutdown(FLUSH_MS) != 0;
}
