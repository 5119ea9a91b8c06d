/* lifeline-probe: events about the machine, its processes and their connections.
 *
 * One thread: it samples what is due (schedule.h), and between samples waits for announcements of sessions and for ends
 * of connections. The library's harvester sends what was emitted.
 */
#include "base/clock.h"
#include "base/say.h"
#include "clock/broker_clock.h"
#include "connections/tcp.h"
#include "follow.h"
#include "host/host.h"
#include "options.h"
#include "processes/cgroups.h"
#include "processes/process.h"
#include "processes/targets.h"
#include "schedule.h"
#include "sessions/sessions.h"

#include "common/json.h"

#include <lifeline/events.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RAISE_NS (60 * SECOND_NS)
#define REPORT_NS (60 * SECOND_NS)
#define ASK_NS (SECOND_NS / 10) /* how often activations are looked at, at most */

typedef struct probe {
  probe_options options;
  schedule schedule;
  host host;
  cgroups cgroups;
  targets targets;
  tcp tcp;
  sessions sessions;
  broker_clock broker_clock;
  follow follow;
  sampler *process, *connections, *kernel; /* their rates follow the targets; NULL if they are not sampled */
  uint64_t asked_ns;                       /* when activations were looked at */
  uint64_t periods_left;
} probe;

static volatile sig_atomic_t ended;

static void on_signal(int signal) {
  ended = signal;
}

/* --- samplers that are of the whole probe ------------------------------------------------------------------------- */

static bool follow_sessions(void *ctx, uint64_t now_ns) {
  probe *all = ctx;
  if (now_ns >= all->sessions.next_ns && sessions_read(&all->sessions)) all->targets.stale = true;
  return true;
}

static bool count_down(void *ctx, uint64_t now_ns) {
  probe *all = ctx;
  (void)now_ns;
  if (--all->periods_left == 0) ended = -1;
  return true;
}

static bool report(void *ctx, uint64_t now_ns) {
  const probe *all = ctx;
  (void)now_ns;
  schedule_report(&all->schedule);
  tcp_report(&all->tcp);
  return true;
}

/* Samplers of processes first find out which there are, at most once per period. New ones are watched at once. */
static bool refresh(probe *all, uint64_t now_ns) {
  bool good = targets_refresh(&all->targets, all->sessions.open, all->sessions.count, now_ns);
  if (all->follow.kernel != NULL) follow_targets(&all->follow, &all->targets);
  return good;
}

/* The normal period of this sampler. */
static uint64_t usual_period(const probe *all, const sampler *one) {
  const probe_options *of = &all->options;
  return one->asked && of->fast_ns < of->every_ns ? of->fast_ns : of->every_ns;
}

static bool sample_processes(void *ctx, uint64_t now_ns) {
  probe *all = ctx;
  bool good = refresh(all, now_ns);
  all->targets.periods_ns[RATE_NORMAL] = usual_period(all, all->process);
  return process_sample(&all->targets, now_ns) && good;
}

static bool sample_connections(void *ctx, uint64_t now_ns) {
  probe *all = ctx;
  bool good = refresh(all, now_ns);
  all->targets.periods_ns[RATE_NORMAL] = usual_period(all, all->connections);
  return tcp_sample(&all->tcp, now_ns) && good;
}

static bool sample_kernel(void *ctx, uint64_t now_ns) {
  probe *all = ctx;
  bool good = refresh(all, now_ns);
  kernel_sample(all->follow.kernel);
  return good;
}

/* --- start and end ------------------------------------------------------------------------------------------------ */

static int open_directory(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) say("directory %s cannot be opened: %s", path, strerror(errno));
  return fd;
}

static bool is_of_another_mount(int proc) {
  struct stat own, given;
  return stat("/proc", &own) != 0 || fstat(proc, &given) != 0 || own.st_dev != given.st_dev;
}

static bool wants(const probe *all, probe_sample kind) {
  return all->options.samples >> kind & 1;
}

static void add_samplers(probe *all) {
  static const struct {
    probe_sample kind;
    sample_function sample;
    const ll_event_type *type;
  } of_host[] = {{SAMPLE_CPU, host_cpu_sample, &ll_type_host_cpu},
                 {SAMPLE_LOAD, host_load_sample, &ll_type_host_load},
                 {SAMPLE_MEMORY, host_memory_sample, &ll_type_host_memory},
                 {SAMPLE_PRESSURE, host_pressure_sample, &ll_type_host_pressure},
                 {SAMPLE_DISK, host_disk_sample, &ll_type_host_disk},
                 {SAMPLE_NETWORK, host_network_sample, &ll_type_host_network},
                 {SAMPLE_CLOCK, host_clock_sample, &ll_type_host_clock}};
  uint64_t every_ns = all->options.every_ns, now_ns = ll_now_ns(CLOCK_MONOTONIC);
  schedule *to = &all->schedule;
  for (unsigned i = 0; i < sizeof of_host / sizeof of_host[0]; i++)
    if (wants(all, of_host[i].kind))
      schedule_add(to, probe_sample_names[of_host[i].kind], of_host[i].sample, &all->host, every_ns, now_ns)->type =
          of_host[i].type;
  if (wants(all, SAMPLE_CLOCK) && all->broker_clock.plugin != NULL)
    schedule_add(to, "clock.broker", broker_clock_sample, &all->broker_clock, every_ns, now_ns);
  if (wants(all, SAMPLE_CGROUP) && all->options.cgroup_count > 0)
    schedule_add(to, "cgroup", cgroups_sample, &all->cgroups, every_ns, now_ns);
  if (wants(all, SAMPLE_PROCESS) || wants(all, SAMPLE_TCP) || all->follow.kernel != NULL)
    schedule_add(to, "sessions", follow_sessions, all, SECOND_NS, now_ns);
  if (wants(all, SAMPLE_PROCESS)) all->process = schedule_add(to, "process", sample_processes, all, every_ns, now_ns);
  if (wants(all, SAMPLE_TCP)) all->connections = schedule_add(to, "tcp", sample_connections, all, every_ns, now_ns);
  if (all->follow.kernel != NULL) all->kernel = schedule_add(to, "kernel", sample_kernel, all, every_ns, now_ns);
  schedule_add(to, "report", report, all, REPORT_NS, now_ns + REPORT_NS);
  if (all->process != NULL) all->process->type = &ll_type_host_process;
  if (all->connections != NULL) all->connections->type = &ll_type_tcp_info;
  all->periods_left = all->options.count;
  if (all->options.count > 0) schedule_add(to, "count", count_down, all, every_ns, now_ns); /* after all others */
}

static void say_line(const char *line) {
  say("%s", line);
}

/* One that this /proc hides may exist: it is followed if it appears. */
static bool have_processes(const probe_options *options, int proc) {
  for (unsigned i = 0; i < options->pid_count; i++) {
    char name[16];
    snprintf(name, sizeof name, "%u", options->pids[i]);
    if (faccessat(proc, name, F_OK, 0) == 0 || kill((pid_t)options->pids[i], 0) == 0 || errno != ESRCH) continue;
    say("--pid: there is no process %s", name);
    return false;
  }
  return true;
}

static bool start(probe *all) {
  const probe_options *options = &all->options;
  int proc = open_directory(options->proc), sys = open_directory(options->sys);
  if (proc < 0 || sys < 0 || !have_processes(options, proc)) return false;
  if (wants(all, SAMPLE_CLOCK))
    broker_clock_open(&all->broker_clock, options->url != NULL ? options->url : getenv("LIFELINE_URL"));
  if (options->netns != NULL && !space_enter(options->netns)) {
    say("network namespace %s cannot be entered: %s", options->netns, strerror(errno));
    return false;
  }
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) { /* a descriptor per process that is sampled */
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  all->host = (host){proc, sys, options->netns == NULL && is_of_another_mount(proc)};
  all->cgroups = (cgroups){sys, options->cgroups, options->cgroup_count};
  all->targets = (targets){
      .proc = proc,
      .sys = sys,
      .choice = {options->pids, options->pid_count, options->programs, options->program_count, options->cgroups,
                 options->cgroup_count},
      .periods_ns = {[RATE_SLOW] = options->slow_ns, [RATE_NORMAL] = options->every_ns, [RATE_FAST] = options->fast_ns},
      .raise_ns = RAISE_NS};
  all->tcp.targets = &all->targets;
  sessions_open(&all->sessions, proc, options->sessions, options->session_count);
  if (options->kernel != 0 && kernel_open(options->kernel, options->kernel_sources, say_line, &all->follow.kernel) != 0)
    return false;
  add_samplers(all);
  return true;
}

static bool follows_targets(const probe *all, const sampler *one) {
  return one == all->process || one == all->connections || one == all->kernel;
}

/* Samplers of processes follow the fastest target; without any, new ones are looked for at the usual rate. */
static void adapt_one(probe *all, sampler *one, uint64_t now_ns) {
  uint64_t usual_ns = usual_period(all, one), fastest_ns = 0;
  if (follows_targets(all, one)) {
    all->targets.periods_ns[RATE_NORMAL] = usual_ns;
    fastest_ns = targets_period(&all->targets, now_ns);
  }
  schedule_rate(one, fastest_ns > 0 && fastest_ns < usual_ns ? fastest_ns : usual_ns, now_ns);
}

static void adapt(probe *all) {
  uint64_t now_ns = ll_now_ns(CLOCK_MONOTONIC);
  bool ask = now_ns - all->asked_ns >= ASK_NS;
  if (ask) all->asked_ns = now_ns;
  for (unsigned i = 0; i < all->schedule.count; i++) {
    sampler *one = &all->schedule.samplers[i];
    if (ask && one->type != NULL) one->asked = ll_is_asked_for(one->type);
    if (one->type != NULL || follows_targets(all, one)) adapt_one(all, one, now_ns);
  }
}

/* A session opened or closed: its processes are sampled at once. */
static void on_announcement(probe *all) {
  if (!sessions_read(&all->sessions)) return;
  uint64_t now_ns = ll_now_ns(CLOCK_MONOTONIC);
  all->targets.stale = true;
  if (all->process != NULL) all->process->due_ns = now_ns;
  if (all->connections != NULL) all->connections->due_ns = now_ns;
}

static void wait_until(probe *all, uint64_t next_ns, const sigset_t *unblocked) {
  struct pollfd polled[SPACES_MAX + 2];
  unsigned count = tcp_poll(&all->tcp, polled);
  polled[count + 1] = (struct pollfd){.fd = -1, .events = POLLIN};
  if (all->follow.kernel != NULL) polled[count + 1].fd = kernel_descriptor(all->follow.kernel);
  uint64_t now_ns = ll_now_ns(CLOCK_MONOTONIC), allowed_ns = all->sessions.next_ns;
  if (next_ns > now_ns + SECOND_NS) next_ns = now_ns + SECOND_NS; /* an activation may come */
  polled[count] = (struct pollfd){.fd = now_ns >= allowed_ns ? all->sessions.notify : -1, .events = POLLIN};
  if (now_ns < allowed_ns && allowed_ns < next_ns) next_ns = allowed_ns;
  uint64_t wait_ns = next_ns > now_ns ? next_ns - now_ns : 0;
  struct timespec time = {(time_t)(wait_ns / SECOND_NS), (long)(wait_ns % SECOND_NS)};
  if (ppoll(polled, count + 2, &time, unblocked) <= 0) return;
  if (polled[count + 1].revents != 0) kernel_drain(all->follow.kernel);
  if (polled[count].revents != 0) on_announcement(all);
  for (unsigned i = 0; i < count; i++)
    if (polled[i].revents != 0) {
      tcp_read_ends(&all->tcp);
      break;
    }
}

static void run(probe *all, const sigset_t *unblocked) {
  while (!ended) {
    schedule_run(&all->schedule, ll_now_ns(CLOCK_MONOTONIC));
    adapt(all);
    if (!ended) wait_until(all, schedule_next(&all->schedule), unblocked);
  }
}

static void print_totals(const probe *all) {
  ll_statistics now = {.size = sizeof now};
  uint64_t samples = 0, skipped = 0, failures = 0;
  ll_stats(&now);
  for (unsigned i = 0; i < all->schedule.count; i++) {
    samples += all->schedule.samplers[i].samples;
    skipped += all->schedule.samplers[i].skipped;
    failures += all->schedule.samplers[i].failures;
  }
  uint64_t dropped = now.dropped_ring_full + now.dropped_no_ring + now.dropped_reentrant + now.dropped_oversize +
                     now.dropped_shutdown + now.dropped_sink + now.dropped_spool_full;
  printf(all->options.json ? "{\"samples\":%llu,\"skipped\":%llu,\"failures\":%llu,\"events\":%llu,\"dropped\":%llu,"
                             "\"sessions\":%llu,\"connections\":%llu}\n"
                           : "probe: samples=%llu skipped=%llu failures=%llu events=%llu dropped=%llu sessions=%llu "
                             "connections=%llu\n",
         (unsigned long long)samples, (unsigned long long)skipped, (unsigned long long)failures,
         (unsigned long long)now.emitted, (unsigned long long)dropped, (unsigned long long)all->sessions.opened,
         (unsigned long long)all->tcp.opened);
}

/* Single kernel events are off unless somebody asks for them. To be freed; NULL without memory. */
static char *rules(void) {
  const char *given = getenv("LIFELINE_RESOLUTION");
  char *text;
  return asprintf(&text, KERNEL_RULES "; %s", given != NULL ? given : "") < 0 ? NULL : text;
}

/* What is written to a closed standard descriptor must not reach a socket that got its number. */
static void open_standard(void) {
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) break;
}

/* Blocks the signals that end the probe, except while it waits. Gives the mask for that time. */
static sigset_t catch_signals(void) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND}, earlier;
  sigset_t blocked, unblocked;
  signal(SIGPIPE, SIG_IGN); /* its log may have no reader any more */
  sigprocmask(SIG_BLOCK, NULL, &unblocked);
  sigemptyset(&blocked);
  for (unsigned i = 0; i < 3; i++) {
    sigaddset(&blocked, ends[i]);
    sigdelset(&unblocked, ends[i]);
    if (sigaction(ends[i], NULL, &earlier) == 0 && earlier.sa_handler != SIG_IGN) sigaction(ends[i], &action, NULL);
  }
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  return unblocked;
}

static bool start_emitter(const probe_options *of) {
  ll_options options = LL_OPTIONS_INIT;
  ll_statistics now = {.size = sizeof now};
  options.url = of->url;
  char *resolution = rules(); /* it is copied */
  options.resolution = resolution;
  if (getenv("LIFELINE_POLICY") == NULL) { /* a burst of samples can wait for room, unlike most programs */
    options.policy = LL_BLOCK;
    options.block_timeout_ms = 50;
  }
  int error = ll_init(&options);
  free(resolution);
  if (error != 0) return false; /* it has been said why */
  ll_stats(&now);
  if (!now.on) say("nothing can be emitted: LIFELINE=off is set");
  return now.on;
}

int main(int argc, char **argv) {
  static probe all;
  open_standard();
  int status = probe_options_parse(&all.options, argc, argv);
  if (status >= 0) return status == 0 ? output_end("lifeline-probe", 0) : status;
  sigset_t unblocked = catch_signals();
  if (!start_emitter(&all.options)) return 1;
  if (!start(&all)) { /* after the emitter: its threads stay in this network namespace */
    broker_clock_close(&all.broker_clock);
    ll_shutdown(0);
    return 1;
  }
  run(&all, &unblocked);
  follow_close(&all.follow);
  tcp_read_ends(&all.tcp);
  report(&all, 0);
  sigprocmask(SIG_SETMASK, &unblocked, NULL); /* a second signal ends the wait for the sink */
  broker_clock_close(&all.broker_clock);
  int late = ll_shutdown(LL_AS_AT_EXIT);
  print_totals(&all);
  tcp_close(&all.tcp);
  targets_free(&all.targets);
  sessions_close(&all.sessions);
  return output_end("lifeline-probe", late != 0 ? 1 : 0);
}
