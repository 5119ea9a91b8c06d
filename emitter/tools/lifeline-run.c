/* lifeline-run: starts a program with the preload that measures its I/O.
 *
 * It sets the environment, leaves the run's agent behind if short processes are to be no emitters, and becomes the
 * program: pid, descriptors and signals are the program's own. What the preload cannot measure is found out from the
 * file, and said in a line; the program starts in any case. */
#include <lifeline/lifeline.h>

#include "base/bytes.h"
#include "program.h"
#include "run-agent.h"
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "Usage: lifeline-run [OPTIONS] PROGRAM [ARGUMENT...]\n"
    "\n"
    "Runs a program and measures its I/O, and that of its children, without changing it: durations, bytes\n"
    "and rates per kind of descriptor (calipers disk.read, net.send ...), and per file and peer (io.run).\n"
    "\n"
    "  --for LIST        what to measure: disk, net, pipe, other, wait, fsync, or calipers by name (all)\n"
    "  --url URL         the sink (LIFELINE_URL)\n"
    "  --interval TIME   how often sums are reported, such as 1s (10s)\n"
    "  --names HOW       names of files and peers: full, hash (keyed, see --key-file), none (full)\n"
    "  --key-file FILE   key of hashed names, made if missing (~/.config/lifeline/names.key)\n"
    "  --redact GLOB     files to report as \"(redacted)\"; may be given several times\n"
    "  --emitters WHICH  processes that are emitters: long, those that live for a second, or all (long)\n"
    "  --targets N       how many files and peers to report at once, 0 to 1024; the rest is summed up (1024)\n"
    "  --help, --version\n"
    "\n"
    "Static programs, programs in Go, and set-user-ID programs of others are run, but cannot be measured\n"
    "this way: a line says so.\n"
    "\n"
    "Exit status: that of the program; 2 wrong usage; 126 the program cannot be executed; 127 it was not found.\n"
    "\n"
    "  lifeline-run --url nats://localhost --interval 1s rsync -a /data backup:/data\n"
    "  lifeline-activate set --url nats://localhost --for 10s 'disk.read full'\n";

static int wrong_usage(const char *message, const char *what) {
  fprintf(stderr, "lifeline-run: %s%s (try --help)\n", message, what);
  return 2;
}

static void warn(const char *message, const char *what) {
  fprintf(stderr, "lifeline-run: warning: %s%s\n", message, what);
}

/* --- the preload's place --- */

/* Beside the library: ../lib/lifeline-preload from where this program is, however it was called. */
static bool find_preload(char path[PATH_MAX]) {
  static const char *const places[] = {LL_PRELOAD_FROM_BIN, "../lib/lifeline-preload"};
  char self[PATH_MAX], tried[PATH_MAX * 2];
  ssize_t bytes = readlink("/proc/self/exe", self, sizeof self - 1);
  if (bytes <= 0) return false;
  self[bytes] = '\0';
  *strrchr(self, '/') = '\0';
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    snprintf(tried, sizeof tried, "%s/%s/liblifeline-preload.so", self, places[i]);
    if (realpath(tried, path) != NULL) return true;
  }
  return false;
}

/* Others' preloads stay, behind ours: then ours measures what the program asks for. */
static bool set_preload(const char *path) {
  const char *others = getenv("LD_PRELOAD");
  char *list;
  if (strpbrk(path, " :") != NULL) {
    warn("the preload's path has a space or colon, which LD_PRELOAD cannot hold; the program is not measured: ", path);
    return true;
  }
  if (others != NULL && strstr(others, path) != NULL) return true;
  if (asprintf(&list, others != NULL && *others != '\0' ? "%s:%s" : "%s", path, others) < 0) return false;
  return setenv("LD_PRELOAD", list, 1) == 0;
}

/* --- the key of hashed names: one per user, so that names are comparable between runs --- */

static bool make_key(int fd, char digits[33]) {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return false;
  ll_hex(bytes, sizeof bytes, digits);
  return write(fd, digits, 32) == 32 && write(fd, "\n", 1) == 1;
}

static bool read_key(const char *path, char digits[33]) {
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0) {
    fprintf(stderr, "lifeline-run: key file %s cannot be opened: %s\n", path, strerror(errno));
    return false;
  }
  uint64_t key[2];
  ssize_t bytes = read(fd, digits, 32);
  digits[bytes > 0 ? bytes : 0] = '\0';
  bool good = bytes == 0 ? make_key(fd, digits) : io_settings_key(key, digits);
  close(fd);
  if (good && (status.st_mode & 077) == 0 && status.st_uid == geteuid()) return true;
  fprintf(stderr,
          good ? "lifeline-run: key file %s must belong to you and be readable by nobody else (chmod 600)\n"
               : "lifeline-run: key file %s must hold 32 hexadecimal digits; remove it, and it is made again\n",
          path);
  return false;
}

static bool load_key(const char *path) {
  const char *home = getenv("HOME"), *config = getenv("XDG_CONFIG_HOME");
  char standard[PATH_MAX], digits[33];
  if (path == NULL) {
    if (config != NULL && *config == '/')
      snprintf(standard, sizeof standard, "%s", config);
    else if (home != NULL && *home == '/')
      snprintf(standard, sizeof standard, "%s/.config", home);
    else
      return wrong_usage("--names hash needs --key-file: HOME is not set", "") == 0;
    mkdir(standard, 0700);
    strncat(standard, "/lifeline", sizeof standard - strlen(standard) - 1);
    mkdir(standard, 0700);
    strncat(standard, "/names.key", sizeof standard - strlen(standard) - 1);
    path = standard;
  }
  return read_key(path, digits) && setenv("LIFELINE_RUN_KEY", digits, 1) == 0;
}

/* --- what the preload reads --- */

typedef struct wishes {
  const char *what, *url, *interval, *names, *key_file, *targets, *emitters;
  char redact[IO_REDACT_BYTES];
} wishes;

/* A rule per caliper, before those that the environment has already. */
static bool set_interval(const char *interval) {
  const char *rules = getenv("LIFELINE_RESOLUTION");
  char *line = NULL;
  size_t bytes;
  FILE *out = open_memstream(&line, &bytes);
  if (out == NULL) return false;
  for (int kind = 0; kind < IO_KINDS; kind++)
    for (int way = 0; way < IO_WAYS; way++) {
      const char *name = io_caliper_name((io_kind)kind, (io_way)way);
      if (name != NULL) fprintf(out, "%s summary interval=%s; ", name, interval);
    }
  fprintf(out, IO_WAIT_NAME " summary interval=%s%s%s", interval, rules != NULL ? "; " : "",
          rules != NULL ? rules : "");
  return fclose(out) == 0 && setenv("LIFELINE_RESOLUTION", line, 1) == 0;
}

static bool set(const char *variable, const char *value) {
  return value == NULL || setenv(variable, value, 1) == 0;
}

/* 0, or the exit status. */
static int prepare(const wishes *wanted, io_settings *settings) {
  char why[200];
  if (!set("LIFELINE_URL", wanted->url) || !set("LIFELINE_RUN_FOR", wanted->what) ||
      !set("LIFELINE_RUN_NAMES", wanted->names) || !set("LIFELINE_RUN_TARGETS", wanted->targets) ||
      !set("LIFELINE_RUN_REDACT", *wanted->redact != '\0' ? wanted->redact : NULL) ||
      (wanted->interval != NULL && !set_interval(wanted->interval)))
    return wrong_usage("no memory", "");
  bool hash = wanted->names != NULL && strcmp(wanted->names, "hash") == 0;
  if (hash && !load_key(wanted->key_file)) return 2;
  if (!io_settings_load(settings, getenv, why, sizeof why)) return wrong_usage(why, "");
  setenv("LIFELINE_BUDGET_BYTES", "16777216", 0); /* sums need little, and each process of a server has rings */
  return 0;
}

static unsigned seconds_of(const char *interval) {
  enum { USUAL_S = 10 };
  char *unit;
  if (interval == NULL) return USUAL_S;
  unsigned number = (unsigned)strtoul(interval, &unit, 10);
  return *unit == 'h' ? number * 3600 : *unit == 'm' ? number * 60 : number;
}

static bool add_redaction(wishes *wanted, const char *glob) {
  size_t used = strlen(wanted->redact);
  int more = snprintf(wanted->redact + used, sizeof wanted->redact - used, "%s%s", used > 0 ? ":" : "", glob);
  return more >= 0 && used + (size_t)more < sizeof wanted->redact - 1 && strchr(glob, ':') == NULL;
}

int main(int argc, char **argv) {
  enum { FOR = 256, URL, INTERVAL, NAMES, KEY_FILE, REDACT, TARGETS, EMITTERS, HELP, VERSION };
  static const struct option names[] = {{"for", required_argument, NULL, FOR},
                                        {"url", required_argument, NULL, URL},
                                        {"interval", required_argument, NULL, INTERVAL},
                                        {"names", required_argument, NULL, NAMES},
                                        {"key-file", required_argument, NULL, KEY_FILE},
                                        {"redact", required_argument, NULL, REDACT},
                                        {"targets", required_argument, NULL, TARGETS},
                                        {"emitters", required_argument, NULL, EMITTERS},
                                        {"help", no_argument, NULL, HELP},
                                        {"version", no_argument, NULL, VERSION},
                                        {NULL, 0, NULL, 0}};
  static wishes wanted;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "+", names, NULL)) != -1;) {
    switch (option) {
    case FOR: wanted.what = optarg; break;
    case URL: wanted.url = optarg; break;
    case INTERVAL: wanted.interval = optarg; break;
    case NAMES: wanted.names = optarg; break;
    case KEY_FILE: wanted.key_file = optarg; break;
    case EMITTERS: wanted.emitters = optarg; break;
    case TARGETS: wanted.targets = optarg; break;
    case REDACT:
      if (add_redaction(&wanted, optarg)) break;
      return wrong_usage("--redact: a pattern has a colon, or all together are longer than 2,046 bytes: ", optarg);
    case HELP: fputs(usage, stdout); return 0;
    case VERSION: printf("lifeline-run %d.%d.%d\n", LL_VERSION_MAJOR, LL_VERSION_MINOR, LL_VERSION_PATCH); return 0;
    default: return wrong_usage("unknown or incomplete option ", argv[optind - 1]);
    }
  }
  if (optind == argc) return wrong_usage("no program", "");
  if (wanted.interval != NULL && !is_interval(wanted.interval))
    return wrong_usage("--interval must be from 1s to 1h, such as 1s or 5m, not ", wanted.interval);
  if (wanted.emitters != NULL && strcmp(wanted.emitters, "long") != 0 && strcmp(wanted.emitters, "all") != 0)
    return wrong_usage("--emitters must be long or all, not ", wanted.emitters);
  static io_settings settings;
  unsetenv("LIFELINE_RUN_PAGE"); /* of a run that started this one */
  int status = prepare(&wanted, &settings);
  if (status != 0) return status;
  const char *url = getenv("LIFELINE_URL");
  if (url == NULL || *url == '\0') return wrong_usage("no sink: give --url or set LIFELINE_URL", "");

  char preload[PATH_MAX], file[PATH_MAX];
  bool harmful = false;
  const char *why = program_find(argv[optind], file, sizeof file) ? program_unmeasurable(file, &harmful) : NULL;
  if (why != NULL) fprintf(stderr, "lifeline-run: warning: %s is not measured: %s\n", argv[optind], why);
  bool only_long = (wanted.emitters == NULL || strcmp(wanted.emitters, "long") == 0) && find_preload(preload);
  bool all = only_long && settings.on && !run_agent_start(&settings, seconds_of(wanted.interval), argv[optind]);
  if (all && wanted.emitters != NULL)
    warn("every process is an emitter: --emitters long needs 4 MB in /dev/shm, and not to be process 1 or a subreaper",
         "");
  if (!find_preload(preload))
    warn("the program is not measured: liblifeline-preload.so is not installed beside the library", "");
  else if (!harmful && !set_preload(preload))
    return wrong_usage("no memory", "");
  execvp(argv[optind], argv + optind);
  int error = errno;
  fprintf(stderr, "lifeline-run: %s: %s\n", argv[optind], strerror(error));
  return error == ENOENT || error == ENOTDIR ? 127 : 126;
}
