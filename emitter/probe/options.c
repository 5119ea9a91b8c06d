#include "options.h"

#include "kernel/kernel.h"
#include "processes/cgroups.h"

#include <lifeline/lifeline.h>

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: lifeline-probe [--every TIME] [--sample LIST] [--pid PID]... [--program GLOB]...\n"
    "                      [--cgroup PATH]... [--sessions DIR]... [OPTIONS]\n"
    "\n"
    "Emits events about this machine: processors, memory, disks and interfaces; the control groups and\n"
    "processes that are chosen; and each TCP connection of these processes, as the kernel sees it. Processes\n"
    "of an open session (lifeline session) are found by themselves and sampled faster.\n"
    "\n"
    "  --url URL          the sink (LIFELINE_URL)\n"
    "  --sample LIST      of cpu,load,memory,pressure,disk,network,clock,cgroup,process,tcp (all)\n"
    "  --pid PID          this process and its descendants; may be repeated, up to 64 times\n"
    "  --program GLOB     processes whose name matches; may be repeated\n"
    "  --cgroup PATH      this control group, and the processes in it; may be repeated\n"
    "  --sessions DIR     where sessions announce themselves (LIFELINE_SESSION_DIR; as root the directories\n"
    "                     of all users, else that of this user); may be repeated\n"
    "  --every TIME       period of all samples (1s)\n"
    "  --fast TIME        period for the processes and connections of sessions, for a minute after the rate of\n"
    "                     a connection has halved or its retransmissions have risen, and for the types that\n"
    "                     an activation by name gives the resolution full for a time (100ms)\n"
    "  --slow TIME        period for what outlives its session (60s)\n"
    "  --kernel LIST      also what the kernel does for these processes, of sched,offcpu,block,net,syscalls:\n"
    "                     time in the run queue, waits by reason, requests to disks, received data and\n"
    "                     retransmissions, system calls\n"
    "  --kernel-source LIST  how, of ebpf,proc: the first one that can (ebpf,proc)\n"
    "  --netns NAME       measure in this network namespace: a name of `ip netns`, or a path\n"
    "  --proc DIR         read /proc from here\n"
    "  --sys DIR          read /sys from here\n"
    "  --count N          end after N periods\n"
    "  --json             print the totals at the end as JSON\n"
    "  --help, --version\n"
    "\n"
    "A TIME is a number with ms, s, m or h, from 10ms to 24h. Ctrl-C and SIGTERM end the probe, after it has\n"
    "sent what it has. Event types that are switched off (lifeline activate) are not read at all.\n"
    "\n"
    "Exit status: 0 ended as asked; 1 not everything was sent, or the probe could not start; 2 wrong usage.\n"
    "\n"
    "  lifeline-probe --url nats://localhost --program 'vsftpd*'\n";

const char *const probe_sample_names[SAMPLE_KINDS] = {[SAMPLE_CPU] = "cpu",         [SAMPLE_LOAD] = "load",
                                                      [SAMPLE_MEMORY] = "memory",   [SAMPLE_PRESSURE] = "pressure",
                                                      [SAMPLE_DISK] = "disk",       [SAMPLE_NETWORK] = "network",
                                                      [SAMPLE_CLOCK] = "clock",     [SAMPLE_CGROUP] = "cgroup",
                                                      [SAMPLE_PROCESS] = "process", [SAMPLE_TCP] = "tcp"};

static int wrong(const char *message, const char *what) {
  fprintf(stderr, "lifeline-probe: %s%s (try --help)\n", message, what);
  return 2;
}

static bool parse_number(const char *text, uint64_t most, uint64_t *value, const char **rest) {
  char *end;
  errno = 0;
  if (*text < '0' || *text > '9') return false;
  *value = strtoull(text, &end, 10);
  if (rest != NULL) *rest = end;
  return errno == 0 && *value <= most && (rest != NULL || *end == '\0');
}

static bool parse_time(const char *text, uint64_t *ns) {
  static const struct {
    const char *name;
    uint64_t ns;
  } units[] = {{"ms", UINT64_C(1000000)},
               {"s", UINT64_C(1000000000)},
               {"m", UINT64_C(60000000000)},
               {"h", UINT64_C(3600000000000)}};
  const char *unit;
  uint64_t number;
  if (!parse_number(text, 86400000, &number, &unit)) return false;
  for (unsigned i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcmp(unit, units[i].name) == 0) {
      *ns = number * units[i].ns;
      return *ns >= 10 * units[0].ns && *ns <= 24 * units[3].ns;
    }
  return false;
}

static bool parse_samples(char *list, unsigned *bits) {
  *bits = 0;
  for (char *word, *rest = list; (word = strtok_r(rest, ",", &rest)) != NULL;) {
    unsigned kind = 0;
    while (kind < SAMPLE_KINDS && strcmp(word, probe_sample_names[kind]) != 0)
      kind++;
    if (kind == SAMPLE_KINDS) return false;
    *bits |= 1u << kind;
  }
  return *bits != 0;
}

static bool add(const char **list, unsigned *count, const char *value) {
  if (*count == CHOICES_MAX || value == NULL) return false;
  list[(*count)++] = value;
  return true;
}

int probe_options_parse(probe_options *options, int argc, char **argv) {
  enum {
    URL = 256,
    EVERY,
    FAST,
    SLOW,
    SAMPLE,
    PID,
    PROGRAM,
    CGROUP,
    SESSIONS,
    KERNEL,
    KERNEL_SOURCE,
    NETNS,
    PROC,
    SYS,
    COUNT,
    JSON,
    HELP,
    VERSION
  };
  static const struct option names[] = {{"url", required_argument, NULL, URL},
                                        {"every", required_argument, NULL, EVERY},
                                        {"fast", required_argument, NULL, FAST},
                                        {"slow", required_argument, NULL, SLOW},
                                        {"sample", required_argument, NULL, SAMPLE},
                                        {"pid", required_argument, NULL, PID},
                                        {"program", required_argument, NULL, PROGRAM},
                                        {"cgroup", required_argument, NULL, CGROUP},
                                        {"sessions", required_argument, NULL, SESSIONS},
                                        {"kernel", required_argument, NULL, KERNEL},
                                        {"kernel-source", required_argument, NULL, KERNEL_SOURCE},
                                        {"netns", required_argument, NULL, NETNS},
                                        {"proc", required_argument, NULL, PROC},
                                        {"sys", required_argument, NULL, SYS},
                                        {"count", required_argument, NULL, COUNT},
                                        {"json", no_argument, NULL, JSON},
                                        {"help", no_argument, NULL, HELP},
                                        {"version", no_argument, NULL, VERSION},
                                        {NULL, 0, NULL, 0}};
  uint64_t number;
  *options = (probe_options){.samples = (1u << SAMPLE_KINDS) - 1, .proc = "/proc", .sys = "/sys"};
  parse_time("1s", &options->every_ns);
  parse_time("100ms", &options->fast_ns);
  parse_time("60s", &options->slow_ns);
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "+", names, NULL)) != -1;) {
    switch (option) {
    case URL: options->url = optarg; break;
    case EVERY:
      if (!parse_time(optarg, &options->every_ns))
        return wrong("--every must be a time such as 500ms or 1m, not ", optarg);
      break;
    case FAST:
      if (!parse_time(optarg, &options->fast_ns)) return wrong("--fast must be a time such as 100ms, not ", optarg);
      break;
    case SLOW:
      if (!parse_time(optarg, &options->slow_ns)) return wrong("--slow must be a time such as 1m, not ", optarg);
      break;
    case SAMPLE:
      if (!parse_samples(optarg, &options->samples))
        return wrong(
            "--sample must be a list of cpu, load, memory, pressure, disk, network, clock, cgroup, process, tcp", "");
      break;
    case PID:
      if (options->pid_count == CHOICES_MAX || !parse_number(optarg, INT32_MAX, &number, NULL) || number == 0)
        return wrong("--pid must be the number of a process, at most 64 times, not ", optarg);
      options->pids[options->pid_count++] = (uint32_t)number;
      break;
    case PROGRAM:
      if (!add(options->programs, &options->program_count, optarg)) return wrong("more than 64 programs", "");
      break;
    case CGROUP:
      if (strlen(optarg) > 4000 || !add(options->cgroups, &options->cgroup_count, cgroup_path(optarg)))
        return wrong("--cgroup must be a path without .., at most 64 times, not ", optarg);
      break;
    case SESSIONS:
      if (!add(options->sessions, &options->session_count, optarg)) return wrong("more than 64 directories", "");
      break;
    case KERNEL:
      options->kernel = kernel_views_of(optarg);
      if (options->kernel == 0)
        return wrong("--kernel must be a list of sched, offcpu, block, net, syscalls, not ", optarg);
      break;
    case KERNEL_SOURCE:
      if (!kernel_sources_are_valid(optarg)) return wrong("--kernel-source must be a list of ebpf, proc, not ", optarg);
      options->kernel_sources = optarg;
      break;
    case NETNS: options->netns = optarg; break;
    case PROC: options->proc = optarg; break;
    case SYS: options->sys = optarg; break;
    case COUNT:
      if (!parse_number(optarg, UINT32_MAX, &options->count, NULL) || options->count == 0)
        return wrong("--count must be a number from 1, not ", optarg);
      break;
    case JSON: options->json = true; break;
    case HELP: printf("%s\nThis build measures kernel events by %s.\n", usage, kernel_built()); return 0;
    case VERSION: printf("lifeline-probe %d.%d.%d\n", LL_VERSION_MAJOR, LL_VERSION_MINOR, LL_VERSION_PATCH); return 0;
    default: return wrong("unknown or incomplete option ", argv[optind - 1]);
    }
  }
  if (optind < argc) return wrong("unexpected argument ", argv[optind]);
  const char *given = getenv("LIFELINE_URL");
  if (options->url == NULL && (given == NULL || *given == '\0'))
    return wrong("no sink: give --url or set LIFELINE_URL", "");
  return -1;
}
