#include "row.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static void print_values(const char *key, const row_sample *samples, unsigned count, bool floors) {
  printf(",\"%s\":[", key);
  for (unsigned i = 0; i < count; i++)
    printf("%s%.3f", i > 0 ? "," : "", floors ? samples[i].floor : samples[i].value);
  printf("]");
}

void row_print(const char *name, const row_sample *samples, unsigned count, const noise *around, unsigned disturbed,
               uint64_t lost, const char *details) {
  printf("{\"name\":\"%s\"", name);
  print_values("values", samples, count, false);
  if (count > 0 && samples[0].floor > 0) print_values("floors", samples, count, true);
  printf(",\"lost\":%" PRIu64 ",\"noise\":{\"foreign\":%.3f,\"stolen\":%.3f,\"waited\":%.3f,\"disturbed\":%u}", lost,
         around->foreign, around->stolen, around->waited, disturbed);
  if (details[0] != '\0') printf(",\"details\":{%s}", details);
  printf("}\n");
  fflush(stdout);
}

void row_measure(const bench_row *wanted) {
  static row_sample quiet[ROW_REPETITIONS_MAX], all[2 * ROW_REPETITIONS_MAX];
  unsigned quiet_count = 0, all_count = 0;
  wanted->repeat(wanted->ctx);
  uint64_t lost = wanted->lost != NULL ? wanted->lost() : 0;
  noise_reading start = noise_read();
  while (quiet_count < wanted->repetitions && all_count < 2 * wanted->repetitions) {
    noise_reading before = noise_read();
    row_sample sample = wanted->repeat(wanted->ctx);
    noise_reading after = noise_read();
    all[all_count++] = sample;
    if (!noise_between(&before, &after).disturbed) quiet[quiet_count++] = sample;
  }
  noise_reading end = noise_read();
  noise around = noise_between(&start, &end);
  bool enough = 2 * quiet_count >= wanted->repetitions;
  char details[512] = "";
  if (wanted->lost != NULL) lost = wanted->lost() - lost;
  if (wanted->details != NULL) wanted->details(details, sizeof details);
  row_print(wanted->name, enough ? quiet : all, enough ? quiet_count : all_count, &around, all_count - quiet_count,
            lost, details);
}
