/* lifeline-emit: events from a shell. */
#include <lifeline/dynamic.h>
#include <lifeline/lifeline.h>

#include "pairs.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: lifeline-emit [OPTIONS] NAME [KEY=VALUE ...]\n"
    "       lifeline-emit [OPTIONS] -\n"
    "\n"
    "Emits one event NAME with a field per KEY, or, with -, one event per line \"NAME KEY=VALUE ...\"\n"
    "of standard input, and waits until the sink has acknowledged it.\n"
    "\n"
    "A field's type follows from its value:\n"
    "  true, false              bool\n"
    "  12, -3                   i64; u64 from 9223372036854775808 on\n"
    "  0.5, 1e9                 f64\n"
    "  anything else            string\n"
    "Type and unit can be given explicitly: KEY:TYPE=VALUE, KEY:TYPE:UNIT=VALUE, KEY::UNIT=VALUE,\n"
    "with TYPE one of i32 i64 f32 f64 string u32 u64 bool bytes (in hex). Events with the same name\n"
    "and different field types are different event types: give the type if it cannot always be\n"
    "derived from the value.\n"
    "\n"
    "On standard input, words are separated by spaces; a value with spaces is enclosed in double\n"
    "quotes, in which \\\" \\\\ \\n \\t are a quote, a backslash, a newline and a tab. Empty lines and\n"
    "lines that begin with # are skipped.\n"
    "\n"
    "  --url URL        the sink (LIFELINE_URL)\n"
    "  --level LEVEL    fatal error warn info debug debug1 debug2 debug3 (info)\n"
    "  --program NAME   name of the program in the events (LIFELINE_PROGRAM; lifeline-emit)\n"
    "  --timeout MS     how long to wait for the sink (5000, or 300 if it was never reached)\n"
    "  --help, --version\n"
    "\n"
    "Ctrl-C ends reading; a second one also ends waiting, and leaves unsent events to the next\n"
    "start or lifeline-recover.\n"
    "\n"
    "Exit status: 0 all events were acknowledged; 1 some were not, or a line was invalid; 2 wrong usage.\n"
    "\n"
    "  lifeline-emit --url nats://localhost backup.end nbytes:u64:B=1048576 ok=true\n"
    "  iostat_to_lines | lifeline-emit --level debug -\n";

static volatile sig_atomic_t interrupted;

static void on_signal(int signal) {
  interrupted = signal;
}

static int wrong_usage(const char *message, const char *what) {
  fprintf(stderr, "lifeline-emit: %s%s (try --help)\n", message, what);
  return 2;
}

/* Returns NULL, or an error text. */
static const char *emit(const char *name, ll_level level, char **words, unsigned count) {
  static ll_dynamic_field fields[LL_DYNAMIC_FIELDS_MAX];
  static ll_value values[LL_DYNAMIC_FIELDS_MAX];
  static char why[160];
  if (count > LL_DYNAMIC_FIELDS_MAX) return "an event has at most 255 fields";
  for (unsigned i = 0; i < count; i++) {
    const char *fault = pair_parse(words[i], &fields[i], &values[i]);
    if (fault == NULL) continue;
    snprintf(why, sizeof why, "field %u: %s", i + 1, fault);
    return why;
  }
  ll_dynamic *type;
  switch (ll_declare(name, level, fields, count, &type)) {
  case 0: break;
  case EINVAL:
    return "names and units must be UTF-8 of at most 255 bytes, names must not be empty, and field names must differ";
  case ENOSPC: return "too many event types";
  default: return "no memory";
  }
  return ll_emit_values(type, values, count) == 0 ? NULL : "a value is out of the range of its type";
}

/* Returns the number of bad lines. */
static unsigned long emit_lines(ll_level level) {
  static char *words[LL_DYNAMIC_FIELDS_MAX + 2];
  char *line = NULL;
  size_t room = 0;
  unsigned long number = 0, bad = 0;
  while (!interrupted && getline(&line, &room, stdin) >= 0) {
    unsigned count;
    number++;
    const char *fault = line_split(line, words, LL_DYNAMIC_FIELDS_MAX + 2, &count);
    if (fault == NULL && count == 0) continue;
    if (fault == NULL) fault = emit(words[0], level, words + 1, count - 1);
    if (fault == NULL) continue;
    bad++;
    fprintf(stderr, "lifeline-emit: line %lu: %s; the line is skipped\n", number, fault);
  }
  free(line);
  return bad;
}

/* Reports the number of dropped events by cause. False if there are any. */
static bool check_drops(void) {
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  const struct {
    uint64_t events;
    const char *why;
  } drops[] = {{now.dropped_oversize, "larger than 32,768 bytes"},
               {now.dropped_sink, "the sink refused them"},
               {now.dropped_spool_full, "the spool is full"},
               {now.dropped_ring_full, "the sink did not take them in time"},
               {now.dropped_no_ring, "no memory within LIFELINE_BUDGET_BYTES, or too many event types"},
               {now.dropped_shutdown, "they came after the shutdown"}};
  bool none = true;
  for (size_t i = 0; i < sizeof drops / sizeof drops[0]; i++) {
    if (drops[i].events == 0) continue;
    none = false;
    fprintf(stderr, "lifeline-emit: %llu event%s dropped: %s\n", (unsigned long long)drops[i].events,
            drops[i].events == 1 ? " was" : "s were", drops[i].why);
  }
  return none;
}

int main(int argc, char **argv) {
  enum { URL = 256, LEVEL, PROGRAM, TIMEOUT, HELP, VERSION };
  static const struct option names[] = {{"url", required_argument, NULL, URL},
                                        {"level", required_argument, NULL, LEVEL},
                                        {"program", required_argument, NULL, PROGRAM},
                                        {"timeout", required_argument, NULL, TIMEOUT},
                                        {"help", no_argument, NULL, HELP},
                                        {"version", no_argument, NULL, VERSION},
                                        {NULL, 0, NULL, 0}};
  static const char *const levels[] = {"fatal", "error", "warn", "info", "debug", "debug1", "debug2", "debug3", NULL};
  ll_options options = LL_OPTIONS_INIT;
  ll_level level = LL_INFO;
  unsigned long timeout_ms = LL_AS_AT_EXIT;
  char *end;
  options.policy = LL_BLOCK; /* a shell can wait, unlike most programs */
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "+", names, NULL)) != -1;) {
    switch (option) {
    case URL: options.url = optarg; break;
    case PROGRAM: options.program = optarg; break;
    case LEVEL:
      for (level = 0; levels[level] != NULL && strcmp(levels[level], optarg) != 0; level++) {
      }
      if (levels[level++] == NULL) return wrong_usage("unknown level ", optarg);
      break;
    case TIMEOUT:
      errno = 0;
      timeout_ms = strtoul(optarg, &end, 10);
      if (errno != 0 || *end != '\0' || *optarg < '0' || *optarg > '9' || timeout_ms > 3600000)
        return wrong_usage("--timeout must be a number of milliseconds up to 3600000, not ", optarg);
      break;
    case HELP: fputs(usage, stdout); return 0;
    case VERSION: printf("lifeline-emit %d.%d.%d\n", LL_VERSION_MAJOR, LL_VERSION_MINOR, LL_VERSION_PATCH); return 0;
    default: return wrong_usage("unknown or incomplete option ", argv[optind - 1]);
    }
  }
  bool lines = optind == argc - 1 && strcmp(argv[optind], "-") == 0;
  if (optind == argc) return wrong_usage("no event name", "");
  options.block_timeout_ms = timeout_ms == LL_AS_AT_EXIT ? 10000 : timeout_ms > 0 ? (unsigned)timeout_ms : 1;
  const char *given = getenv("LIFELINE_URL");
  if (options.url == NULL && (given == NULL || *given == '\0'))
    return wrong_usage("no sink: give --url or set LIFELINE_URL", "");
  if (ll_init(&options) != 0) return 1; /* ll_init has logged the error */

  if (lines) { /* deliver what was read; a second signal ends the wait */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
  }
  const char *fault = lines ? NULL : emit(argv[optind], level, argv + optind + 1, (unsigned)(argc - optind - 1));
  if (fault != NULL) {
    ll_shutdown(0);
    fprintf(stderr, "lifeline-emit: %s\n", fault);
    return 2;
  }
  unsigned long bad = lines ? emit_lines(level) : 0;
  int late = ll_shutdown((unsigned)timeout_ms); /* ll_shutdown logs it */
  bool whole = check_drops();
  if (interrupted) return 128 + interrupted;
  return late != 0 || !whole || bad > 0 ? 1 : 0;
}
