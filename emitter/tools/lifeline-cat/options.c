#include "options.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static const char usage[] =
    "Usage: lifeline-cat [OPTION]... [FILE | DIRECTORY | -]...\n"
    "\n"
    "Prints the events of concatenated Lifeline batches, one per line: from files, from the files\n"
    "*.llb of directories, or by default from standard input. Several inputs are merged by time. At\n"
    "the end, reports on standard error what is missing, repeated, dropped or damaged, according to\n"
    "the sequence numbers and counters in the batches.\n"
    "\n"
    "  -f, --format FORMAT  json (as the decode job writes it), bp (NetLogger), ulm, or none: only\n"
    "                       the report\n"
    "      --sort           sort exactly by time: reads input twice, standard input via a copy\n"
    "      --unsorted       print in stored order, one input after the other\n"
    "      --window BYTES   memory for the merge (64M); an event outside of the window is printed\n"
    "                       out of order, and the report counts it\n"
    "      --follow         print in stored order and continue as the files grow, until interrupted\n"
    "  -t, --type GLOB      only events of these types; may be given several times\n"
    "      --level LEVEL    only events of this level and above: fatal, error, warn, info, debug ...\n"
    "                       debug3\n"
    "      --program GLOB   only events of these programs\n"
    "      --host GLOB      only events of these hosts\n"
    "      --since TIME     only events at or after this time: 2026-11-21T05:19:00Z, seconds since\n"
    "                       1970, or an age: 90s 10m 2h 1d\n"
    "      --until TIME     only events before this time\n"
    "      --json           print the report as one JSON object\n"
    "  -q, --quiet          print no report if nothing is missing or damaged\n"
    "      --help           print this text\n"
    "      --version        print the version\n"
    "\n"
    "The report covers whole batches, regardless of which events are printed. Exit status: 0 nothing is\n"
    "missing; 1 something is missing, damaged or in conflict; 2 wrong usage, or an input or standard\n"
    "output failed.\n";

enum { SORT = 256, UNSORTED, WINDOW, FOLLOW, LEVEL, PROGRAM, HOST, SINCE, UNTIL, JSON, HELP, VERSION };

static const struct option long_options[] = {
    {"format", required_argument, NULL, 'f'},  {"sort", no_argument, NULL, SORT},
    {"unsorted", no_argument, NULL, UNSORTED}, {"window", required_argument, NULL, WINDOW},
    {"follow", no_argument, NULL, FOLLOW},     {"type", required_argument, NULL, 't'},
    {"level", required_argument, NULL, LEVEL}, {"program", required_argument, NULL, PROGRAM},
    {"host", required_argument, NULL, HOST},   {"since", required_argument, NULL, SINCE},
    {"until", required_argument, NULL, UNTIL}, {"json", no_argument, NULL, JSON},
    {"quiet", no_argument, NULL, 'q'},         {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, VERSION},   {NULL, 0, NULL, 0}};

static int complain(const char *what, const char *value) {
  fprintf(stderr, "lifeline-cat: %s '%s' (try --help)\n", what, value);
  return 2;
}

static int no_memory(void) {
  fputs("lifeline-cat: out of memory\n", stderr);
  return 2;
}

/* --- values --- */

static bool parse_format(const char *text, format *as) {
  static const char *const names[] = {"json", "bp", "ulm", "none"};
  for (int i = 0; i < 4; i++)
    if (strcmp(text, names[i]) == 0) {
      *as = (format)i;
      return true;
    }
  return false;
}

static bool parse_level(const char *text, unsigned *level) {
  static const char *const names[] = {"fatal", "error", "warn", "info", "debug", "debug1", "debug2", "debug3"};
  for (unsigned i = 0; i < 8; i++)
    if (strcmp(text, names[i]) == 0) {
      *level = i + 1;
      return true;
    }
  return false;
}

/* Parses a number with an optional letter for its factor. */
static bool parse_scaled(const char *text, const char *letters, const double *factors, double *value) {
  char *end;
  errno = 0;
  *value = strtod(text, &end);
  if (end == text || errno != 0 || !(*value >= 0)) return false;
  if (*end == '\0') return true;
  const char *letter = strchr(letters, *end);
  if (!letter || end[1] != '\0') return false;
  *value *= factors[letter - letters];
  return true;
}

static bool parse_window(const char *text, size_t *bytes) {
  static const double factors[] = {1024, 1048576, 1073741824};
  double value;
  if (!parse_scaled(text, "KMG", factors, &value) || value > (double)((size_t)1 << 46)) return false;
  *bytes = (size_t)value;
  return true;
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Parses `2026-11-21` or `2026-11-21T05:19:00`, with optional fraction and Z. Always UTC. */
static bool parse_iso(const char *text, int64_t *ns) {
  struct tm parts = {0};
  const char *rest = strptime(text, "%Y-%m-%d", &parts);
  if (!rest) return false;
  if (*rest == 'T' && !(rest = strptime(rest, "T%H:%M:%S", &parts))) return false;
  int64_t fraction = 0;
  if (*rest == '.')
    for (int64_t unit = 100000000; *++rest >= '0' && *rest <= '9'; unit /= 10)
      fraction += (*rest - '0') * unit;
  if (*rest == 'Z') rest++;
  int64_t seconds = (int64_t)timegm(&parts);
  if (*rest != '\0' || seconds < INT64_MIN / 1000000000 + 1 || seconds > INT64_MAX / 1000000000 - 1) return false;
  *ns = seconds * 1000000000 + fraction;
  return true;
}

static bool parse_time(const char *text, int64_t *ns) {
  static const double factors[] = {1, 60, 3600, 86400};
  double seconds;
  if (parse_iso(text, ns)) return true;
  if (!parse_scaled(text, "smhd", factors, &seconds) || seconds > 9e9) return false;
  bool age = strpbrk(text, "smhd") != NULL;
  *ns = age ? now_ns() - (int64_t)(seconds * 1e9) : (int64_t)(seconds * 1e9);
  return true;
}

/* --- inputs --- */

static bool add_input(options *all, const char *name) {
  const char **more = realloc(all->inputs, ((size_t)all->input_count + 1) * sizeof *more);
  if (!more) return false;
  all->inputs = more;
  more[all->input_count] = strdup(name);
  return more[all->input_count] != NULL && ++all->input_count;
}

static int is_batch_file(const struct dirent *entry) {
  size_t length = strlen(entry->d_name);
  return entry->d_name[0] != '.' && length > 4 && strcmp(entry->d_name + length - 4, ".llb") == 0;
}

static int add_directory(options *all, const char *directory) {
  struct dirent **entries;
  int count = scandir(directory, &entries, is_batch_file, alphasort), status = -1;
  if (count < 0) {
    fprintf(stderr, "lifeline-cat: %s: %s\n", directory, strerror(errno));
    return 2;
  }
  if (count == 0) fprintf(stderr, "lifeline-cat: %s: no *.llb in it\n", directory);
  for (int i = 0; i < count; i++) {
    char *name;
    if (asprintf(&name, "%s/%s", directory, entries[i]->d_name) < 0) name = NULL;
    if (!name || !add_input(all, name)) status = no_memory();
    free(name);
    free(entries[i]);
  }
  free(entries);
  return status;
}

static int add_inputs(options *all, char **names) {
  struct stat status;
  bool standard_input = false;
  if (!*names) return add_input(all, "-") ? -1 : no_memory();
  for (; *names; names++) {
    if (strcmp(*names, "-") == 0 && standard_input) return complain("standard input can be read only once:", *names);
    standard_input |= strcmp(*names, "-") == 0;
    bool directory = stat(*names, &status) == 0 && S_ISDIR(status.st_mode);
    int said = directory ? add_directory(all, *names) : add_input(all, *names) ? -1 : no_memory();
    if (said >= 0) return said;
  }
  return -1;
}

/* --- options --- */

static int parse_option(options *all, int option, size_t *type_count) {
  switch (option) {
  case 'f':
    return parse_format(optarg, &all->as) ? -1 : complain("--format must be json, bp, ulm or none, not", optarg);
  case 't': all->types[(*type_count)++] = optarg; return -1;
  case 'q': all->quiet = true; return -1;
  case SORT: all->by = ORDER_EXACT; return -1;
  case UNSORTED: all->by = ORDER_STORED; return -1;
  case WINDOW:
    return parse_window(optarg, &all->window_bytes) ? -1 : complain("--window must be a number of bytes, not", optarg);
  case FOLLOW: all->follow = true; return -1;
  case LEVEL: return parse_level(optarg, &all->filter.level) ? -1 : complain("--level must be a level, not", optarg);
  case PROGRAM: all->filter.program = optarg; return -1;
  case HOST: all->filter.host = optarg; return -1;
  case SINCE: return parse_time(optarg, &all->filter.since_ns) ? -1 : complain("--since must be a time, not", optarg);
  case UNTIL:
    if (!parse_time(optarg, &all->filter.last_ns)) return complain("--until must be a time, not", optarg);
    all->filter.last_ns--;
    return -1;
  case JSON: all->json = true; return -1;
  case HELP: fputs(usage, stdout); return 0;
  case VERSION: puts("lifeline-cat " LIFELINE_VERSION); return 0;
  default: fputs("lifeline-cat: see lifeline-cat --help\n", stderr); return 2;
  }
}

int options_parse(options *all, int argc, char **argv) {
  *all = (options){.window_bytes = 64u << 20, .filter = {.level = 8, .since_ns = INT64_MIN, .last_ns = INT64_MAX}};
  all->types = calloc((size_t)argc + 1, sizeof *all->types);
  if (!all->types) return no_memory();
  size_t type_count = 0;
  for (int option; (option = getopt_long(argc, argv, "f:t:q", long_options, NULL)) != -1;) {
    int said = parse_option(all, option, &type_count);
    if (said >= 0) return said;
  }
  if (type_count > 0) all->filter.types = all->types;
  if (all->follow && all->by == ORDER_EXACT) return complain("growing files cannot be sorted: --follow and", "--sort");
  return add_inputs(all, argv + optind);
}

void options_free(options *all) {
  for (uint32_t i = 0; i < all->input_count; i++)
    free((char *)(uintptr_t)all->inputs[i]);
  free(all->inputs);
  free(all->types);
}
