/* bench-triggers: the background thread's work after a change of the trigger file: reading it and parsing all lines. */
#include "options.h"
#include "resolution/activations.h"
#include "row.h"
#include "timing.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "Usage: bench-triggers --name ROW --file PATH [--lines N] [--repetitions N]\n"
                            "\n"
                            "Prints one row of the benchmark as JSON: nanoseconds to read and parse a trigger file.\n"
                            "--file is overwritten. --lines (50), --repetitions (101).\n";

enum { FILE_BYTES_MAX = 65536, ROUNDS = 20 };

static const char *path;
static uint64_t lines = 50;
static ll_activations activations;

/* Changes every line, so that none is reused without parsing. */
static bool write_file(uint64_t version) {
  FILE *file = fopen(path, "we");
  if (file == NULL) return false;
  for (uint64_t i = 0; i < lines; i++)
    fprintf(file, "server%u.disk.* full level<=debug program=remote-* when nbytes>%u for=10m id=v%u-%u\n", (unsigned)i,
            (unsigned)(65536 + version), (unsigned)version, (unsigned)i);
  return fclose(file) == 0;
}

static bool read_and_parse(void) {
  char text[FILE_BYTES_MAX], why[512] = "";
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  ssize_t bytes = fd < 0 ? -1 : read(fd, text, sizeof text);
  if (fd >= 0) close(fd);
  ll_moment now = ll_moment_now();
  bool parsed =
      bytes > 0 && ll_activations_replace(&activations, LL_FROM_FILE, text, (size_t)bytes, '\n', &now, why, sizeof why);
  if (!parsed) fprintf(stderr, "bench-triggers: %s: %s\n", path, why);
  return parsed;
}

static row_sample repeat(void *version) {
  double sum = 0;
  for (int i = 0; i < ROUNDS; i++) {
    if (!write_file((*(uint64_t *)version)++)) exit(1);
    uint64_t began = now_ns();
    if (!read_and_parse()) exit(1);
    sum += (double)(now_ns() - began);
  }
  return (row_sample){.value = sum / ROUNDS};
}

int main(int argc, char **argv) {
  static const struct option names[] = {
      {"name", required_argument, NULL, 'n'},  {"file", required_argument, NULL, 'f'},
      {"lines", required_argument, NULL, 'l'}, {"repetitions", required_argument, NULL, 'r'},
      {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0}};
  static ll_routes routes;
  const char *name = NULL;
  uint64_t repetitions = 101, version = 1;
  bool legal = true;
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 'n': name = optarg; break;
    case 'f': path = optarg; break;
    case 'l': legal = legal && parse_number(optarg, 1, LL_ACTIVATIONS_MAX, &lines); break;
    case 'r': legal = legal && parse_number(optarg, 1, ROW_REPETITIONS_MAX, &repetitions); break;
    case 'h': fputs(usage, stdout); return 0;
    default: legal = false;
    }
  }
  if (!legal || name == NULL || path == NULL || optind != argc) {
    fputs("bench-triggers: wrong usage (try --help)\n", stderr);
    return 2;
  }
  activations.limits =
      (ll_activation_limits){.program = "remote-copy", .host = "here", .for_most_ns = UINT64_MAX, .routes = &routes};
  row_measure(&(bench_row){.name = name, .repetitions = (unsigned)repetitions, .repeat = repeat, .ctx = &version});
  ll_activations_clear(&activations);
  return 0;
}
