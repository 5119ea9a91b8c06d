/* lifeline-session: runs a command as a session. */
#include "base/announce.h"
#include "base/traceparent.h"

#include <lifeline/lifeline.h>
#include <lifeline/session.h>

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
    "Usage: lifeline-session [OPTIONS] [--] COMMAND [ARGUMENT ...]\n"
    "\n"
    "Runs COMMAND as a session: a named span of interest that ties together the events of all programs\n"
    "that COMMAND starts, and of the host meanwhile. The archive's views sessions and session_events\n"
    "and the console show what belongs to it.\n"
    "\n"
    "The session's ID, 16 bytes, is printed once on standard error. It is the trace ID of the W3C\n"
    "traceparent in TRACEPARENT, and the session in LIFELINE_CONTEXT, which COMMAND gets in its\n"
    "environment. If LIFELINE_CONTEXT names a session already, this one is its child. Otherwise, if\n"
    "TRACEPARENT is set, this session is that trace.\n"
    "\n"
    "  --name NAME      name of the session (COMMAND)\n"
    "  --url URL        the sink, of COMMAND too (LIFELINE_URL)\n"
    "  --json           print session, parent and traceparent as a JSON object\n"
    "  --quiet          print nothing\n"
    "  --help, --version\n"
    "\n"
    "A file in the session directory announces the session to lifeline-probe on this host, also\n"
    "without a sink. Signals are passed on to COMMAND, which is in the same process group.\n"
    "\n"
    "Exit status: that of COMMAND, or its signal; 126 COMMAND cannot be executed; 127 it was not found;\n"
    "2 wrong usage.\n"
    "\n"
    "  lifeline-session --name 'nightly copy' --url nats://localhost -- rsync -a /data backup:\n";

typedef struct settings {
  ll_options options; /* of this program's own emitter */
  const char *name;
  const char *url;
  bool json, quiet;
  char **command;
} settings;

static int wrong_usage(const char *message, const char *what) {
  fprintf(stderr, "lifeline-session: %s%s (try --help)\n", message, what);
  return 2;
}

/* --- the session --- */

/* A descriptor of the sink must not get one of these numbers, which the command or we would write to. */
static void occupy_standard_descriptors(void) {
  int fd;
  do
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
}

static void begin(const settings *given, ll_session *session) {
  size_t bytes;
  bool nested = ll_session_in(getenv("LIFELINE_CONTEXT"), &bytes) != NULL;
  ll_session_begin(session, given->name, nested ? NULL : getenv("TRACEPARENT"));
  ll_statistics now = {.size = sizeof now};
  ll_stats(&now);
  char why[512];
  const char *wish = getenv("LIFELINE");
  bool off = wish != NULL && strcmp(wish, "off") == 0;
  if (!now.on && !off && !ll_announce(session->id, given->name, why, sizeof why))
    fprintf(stderr, "lifeline-session: %s\n", why);
}

static void print(const settings *given, const ll_session *session) {
  char id[LL_SESSION_ID_TEXT], parent[LL_SESSION_ID_TEXT], trace[LL_TRACEPARENT_BYTES];
  ll_session_id_text(session->id, id);
  ll_session_id_text(session->parent, parent);
  ll_traceparent_format(session, trace);
  bool child = !ll_session_id_is_zero(session->parent);
  if (given->quiet) return;
  if (given->json)
    fprintf(stderr, "{\"session\":\"%s\",\"parent\":%s%s%s,\"traceparent\":\"%s\"}\n", id, child ? "\"" : "",
            child ? parent : "null", child ? "\"" : "", trace);
  else
    fprintf(stderr, "lifeline-session: session %s%s%s\n", id, child ? " within " : "", child ? parent : "");
}

/* --- the command's environment --- */

static bool is_of_session(const char *pair, size_t length) {
  static const char *const keys[] = {"session=", "parent=", "traceparent="};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    if (length >= strlen(keys[i]) && strncmp(pair, keys[i], strlen(keys[i])) == 0) return true;
  return false;
}

/* LIFELINE_CONTEXT as it is, with another session. NULL: no memory. */
static char *context_variable(const ll_session *session) {
  static const char name[] = "LIFELINE_CONTEXT=";
  const char *given = getenv("LIFELINE_CONTEXT");
  char id[LL_SESSION_ID_TEXT], *text = malloc(sizeof name + (given != NULL ? strlen(given) : 0) + 100);
  if (text == NULL) return NULL;
  char *at = stpcpy(text, name);
  while (given != NULL && *given != '\0') {
    size_t length = strcspn(given, ",");
    if (!is_of_session(given, length)) {
      memcpy(at, given, length);
      at[length] = ',';
      at += length + 1;
    }
    given += length;
    if (*given == ',') given++;
  }
  ll_session_id_text(session->id, id);
  at += sprintf(at, "session=%s", id);
  ll_session_id_text(session->parent, id);
  if (!ll_session_id_is_zero(session->parent)) sprintf(at, ",parent=%s", id);
  return text;
}

static bool is_variable(const char *entry, const char *variable) {
  size_t length = strcspn(variable, "=") + 1;
  return strncmp(entry, variable, length) == 0;
}

/* The library's threads read the environment meanwhile: the command gets one of its own. NULL: no memory. */
static char **environment_with(char *const *variables, size_t count) {
  size_t known = 0, kept = 0;
  while (environ[known] != NULL)
    known++;
  char **made = calloc(known + count + 1, sizeof *made);
  for (size_t i = 0; made != NULL && i < known; i++) {
    bool replaced = false;
    for (size_t v = 0; v < count; v++)
      replaced |= is_variable(environ[i], variables[v]);
    if (!replaced) made[kept++] = environ[i];
  }
  for (size_t v = 0; made != NULL && v < count; v++)
    made[kept++] = variables[v];
  return made;
}

static char **command_environment(const settings *given, const ll_session *session) {
  static char trace[sizeof "TRACEPARENT=" + LL_TRACEPARENT_BYTES];
  char *at = stpcpy(trace, "TRACEPARENT="), *variables[3], *url = NULL;
  size_t count = 0;
  ll_traceparent_format(session, at);
  variables[count++] = trace;
  if ((variables[count] = context_variable(session)) != NULL) count++;
  if (given->url != NULL && asprintf(&url, "LIFELINE_URL=%s", given->url) > 0) variables[count++] = url;
  char **made = environment_with(variables, count);
  return made != NULL ? made : environ;
}

/* --- the command --- */

/* What was there when this program started. */
typedef struct inherited {
  sigset_t signals;
  struct sigaction child; /* disposition of SIGCHLD, which may be ignored */
} inherited;

/* Signals that are waited for, to pass them on. Reading and writing the terminal from the background stops this program
 * as it stops the command. */
static void take_signals(sigset_t *taken, inherited *before) {
  static const int left[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGTTIN, SIGTTOU, SIGCONT};
  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigfillset(taken);
  for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
    sigdelset(taken, left[i]);
  sigprocmask(SIG_BLOCK, taken, &before->signals);
  sigaction(SIGCHLD, &standard, &before->child);
}

/* Takes the signals that wait. */
static void drain(const sigset_t *taken, sigset_t *early) {
  static const struct timespec none;
  int number;
  sigemptyset(early);
  while ((number = sigtimedwait(taken, NULL, &none)) > 0)
    sigaddset(early, number);
}

/* Passes on signals from before there was a command: also a terminal's, which the command did not get. */
static void become(char **command, char **environment, const inherited *before, const sigset_t *early) {
  for (int number = 1; number <= SIGRTMAX; number++)
    if (number != SIGCHLD && sigismember(early, number) == 1) raise(number); /* for when it is unblocked */
  sigaction(SIGCHLD, &before->child, NULL);
  sigprocmask(SIG_SETMASK, &before->signals, NULL);
  execvpe(command[0], command, environment);
  int error = errno;
  fprintf(stderr, "lifeline-session: %s cannot be run: %s\n", command[0], strerror(error));
  _exit(error == ENOENT ? 127 : 126);
}

/* The terminal sends its signals to the whole process group. So does the command, if it sends one to its group. */
static bool is_for_us_alone(const siginfo_t *signal, pid_t command) {
  return signal->si_code <= 0 && signal->si_pid != command;
}

/* With SIGSTOP by its pid, it is stopped alone: nobody would continue this program. */
static bool is_of_job_control(int stop) {
  return stop == SIGTSTP || stop == SIGTTIN || stop == SIGTTOU;
}

/* By the command's own signal, so that a program that started this one and waits for it as we do stops, too. */
static void stop_by(int stop) {
  sigset_t one, before;
  sigemptyset(&one);
  sigaddset(&one, stop);
  raise(stop); /* and the terminal's, which waits, are one */
  sigprocmask(SIG_UNBLOCK, &one, &before);
  sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Waits for the end of the command; stops with it and continues with it. Returns its wait status. */
static int wait_for(pid_t command, const sigset_t *taken) {
  for (;;) {
    int status;
    siginfo_t signal;
    pid_t changed = waitpid(command, &status, WNOHANG | WUNTRACED);
    if (changed == command && !WIFSTOPPED(status)) return status;
    if (changed < 0 && errno != EINTR) return 0; /* impossible: nobody else waits for it */
    if (changed == command && is_of_job_control(WSTOPSIG(status))) {
      stop_by(WSTOPSIG(status));
      kill(command, SIGCONT);
    }
    if (changed == command) continue;
    if (sigwaitinfo(taken, &signal) > 0 && signal.si_signo != SIGCHLD && is_for_us_alone(&signal, command))
      kill(command, signal.si_signo);
  }
}

/* From now on a signal ends this program, which only waits for the sink; those that ended the command are over. */
static void return_signals(const sigset_t *taken, const inherited *before) {
  sigset_t late;
  drain(taken, &late);
  sigprocmask(SIG_SETMASK, &before->signals, NULL);
}

/* Ends as the command did, without a second core dump. */
static int end_like(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  int number = WTERMSIG(status);
  struct rlimit no_core = {0, 0};
  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigset_t one;
  setrlimit(RLIMIT_CORE, &no_core);
  sigaction(number, &standard, NULL);
  sigemptyset(&one);
  sigaddset(&one, number);
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  raise(number);
  return 128 + number;
}

static int run(const settings *given) {
  inherited before;
  sigset_t taken, early;
  ll_session session;
  take_signals(&taken, &before);
  ll_init(&given->options); /* logs its errors; the command runs anyway */
  begin(given, &session);
  print(given, &session);
  static char **environment; /* kept until the end of the program */
  environment = command_environment(given, &session);
  drain(&taken, &early);
  pid_t command = fork();
  if (command == 0) become(given->command, environment, &before, &early);
  int error = errno, status = 126 << 8;
  if (command > 0)
    status = wait_for(command, &taken);
  else
    fprintf(stderr, "lifeline-session: no process can be started: %s\n", strerror(error));
  return_signals(&taken, &before);
  ll_session_end(&session, WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ll_announce_end(session.id);
  ll_shutdown(LL_AS_AT_EXIT);
  return end_like(status);
}

int main(int argc, char **argv) {
  enum { NAME = 256, URL, JSON, QUIET, HELP, VERSION };
  static const struct option names[] = {{"name", required_argument, NULL, NAME},
                                        {"url", required_argument, NULL, URL},
                                        {"json", no_argument, NULL, JSON},
                                        {"quiet", no_argument, NULL, QUIET},
                                        {"help", no_argument, NULL, HELP},
                                        {"version", no_argument, NULL, VERSION},
                                        {NULL, 0, NULL, 0}};
  settings given = {.options = LL_OPTIONS_INIT};
  occupy_standard_descriptors();
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "+", names, NULL)) != -1;) {
    switch (option) {
    case NAME: given.name = optarg; break;
    case URL: given.url = optarg; break;
    case JSON: given.json = true; break;
    case QUIET: given.quiet = true; break;
    case HELP: fputs(usage, stdout); return 0;
    case VERSION: printf("lifeline-session %d.%d.%d\n", LL_VERSION_MAJOR, LL_VERSION_MINOR, LL_VERSION_PATCH); return 0;
    default: return wrong_usage("unknown or incomplete option ", argv[optind - 1]);
    }
  }
  if (optind == argc) return wrong_usage("no command", "");
  given.command = argv + optind;
  if (given.name == NULL) {
    const char *slash = strrchr(given.command[0], '/');
    given.name = slash != NULL && slash[1] != '\0' ? slash + 1 : given.command[0];
  }
  given.options.url = given.url;
  given.options.program = "lifeline-session"; /* LIFELINE_PROGRAM is the command's */
  return run(&given);
}
