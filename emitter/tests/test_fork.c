/* A forked child is an emitter of its own. */
#include "support.h"

#include <errno.h>
#include <lifeline/lifeline.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

LL_EVENT(mine, "test.mine", LL_INFO, (u32, pid, ""), (u32, number, ""));

enum { EACH = 5000, CLONES = 20 };

static test_directory directory;

static int set_up(void **state) {
  (void)state;
  test_directory_make(&directory);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  test_directory_remove(&directory);
  return 0;
}

static void emit_mine(void) {
  for (uint32_t i = 0; i < EACH; i++)
    ll_emit(mine, (uint32_t)getpid(), i);
}

static pid_t fork_normally(void) {
  return fork();
}

/* Runs no atfork handlers, and bypasses glibc. */
static pid_t fork_behind_the_librarys_back(void) {
  return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void emit_fork_emit(pid_t (*make_child)(void)) {
  emit_mine();
  pid_t child = make_child();
  if (child == 0) {
    emit_mine();
    int error = ll_shutdown(TEST_PATIENCE_MS);
    _exit(error != 0 && (make_child == fork_normally || error != ETIMEDOUT));
  }
  emit_mine();
  int status;
  if (waitpid(child, &status, 0) != child || status != 0) exit(1);
}

static void with_fork(void) {
  emit_fork_emit(fork_normally);
}

/* While the parent's emitter starts, when its threads may hold locks of libc: then the child has no thread to send. */
static void with_clone(void) {
  emit_fork_emit(fork_behind_the_librarys_back);
}

/* Two emitters, by incarnation, with their events. Each batch's pid must be that of its events. */
typedef struct tally {
  uint32_t pid[2];
  uint64_t events[2];
} tally;

static void count_by_pid(const llb_event *event, void *ctx) {
  tally *counted = ctx;
  uint32_t pid = event->values[0].u32;
  int i = counted->pid[0] == 0 || counted->pid[0] == pid ? 0 : 1;
  assert_true(counted->pid[i] == 0 || counted->pid[i] == pid);
  counted->pid[i] = pid;
  counted->events[i]++;
}

static void check_two_emitters(void) {
  tally counted = {{0}, {0}};
  test_batches batches = test_read_batches(directory.out);
  test_each_event(&batches, count_by_pid, &counted);
  assert_int_equal(counted.events[0] + counted.events[1], 3 * EACH);
  assert_true(counted.events[0] == EACH || counted.events[1] == EACH);
  unsigned finals = 0;
  for (size_t i = 0; i < batches.count; i++) {
    finals += (batches.at[i]->flags & LLB_FINAL) != 0;
    for (size_t j = 0; j < i; j++)
      assert_int_equal(batches.at[i]->pid == batches.at[j]->pid,
                       memcmp(batches.at[i]->incarnation, batches.at[j]->incarnation, 16) == 0);
  }
  assert_int_equal(finals, 2);
  assert_int_equal(test_ring_files(&directory), 0);
  test_free_batches(&batches);
}

static void a_forked_child_is_an_incarnation_of_its_own(void **state) {
  (void)state;
  assert_int_equal(test_in_child(with_fork, NULL), 0);
  check_two_emitters();
}

static void emit_and_have_the_child_killed(void) {
  emit_mine();
  pid_t child = fork();
  if (child == 0) {
    ll_emit(mine, (uint32_t)getpid(), 0);
    kill(getpid(), SIGKILL);
  }
  exit(test_wait(child) != 128 + SIGKILL || ll_shutdown(TEST_PATIENCE_MS) != 0);
}

/* Recovered by the parent, if its recovery runs late enough, or else by the tool. The parent declared the type. */
static void a_killed_childs_event_is_recovered(void **state) {
  (void)state;
  const char *const recover[] = {"lifeline-recover", NULL};
  setenv("LIFELINE_INTERVAL_MS", "3600000", 1);
  assert_int_equal(test_in_child(emit_and_have_the_child_killed, NULL), 0);
  unsetenv("LIFELINE_INTERVAL_MS");
  assert_int_equal(test_wait(test_start(recover, "/dev/null")), 0);
  assert_int_equal(test_ring_files(&directory), 0);
  test_batches batches = test_read_batches(directory.out);
  assert_int_equal(test_events_in(&batches), EACH + 1);
  test_free_batches(&batches);
}

static void a_child_forked_without_handlers_sends_its_events_or_leaves_them(void **state) {
  (void)state;
  const char *const recover[] = {"lifeline-recover", NULL};
  for (int i = 0; i < CLONES; i++) {
    assert_int_equal(test_in_child(with_clone, NULL), 0);
    assert_int_equal(test_wait(test_start(recover, "/dev/null")), 0);
    check_two_emitters();
    assert_int_equal(remove(directory.out), 0);
  }
}

static void fork_and_leave(void) {
  emit_mine();
  pid_t child = fork();
  if (child == 0) exit(0); /* runs the parent's exit handlers */
  int status;
  if (waitpid(child, &status, 0) != child || status != 0) exit(1);
}

static void a_child_that_emits_nothing_leaves_the_parents_events_alone(void **state) {
  (void)state;
  assert_int_equal(test_in_child(fork_and_leave, NULL), 0);
  test_batches batches = test_read_batches(directory.out);
  test_check_sequences(&batches);
  assert_int_equal(test_events_in(&batches), EACH);
  test_free_batches(&batches);
}

static volatile int emitting = 1;

static void *emit_until_told(void *unused) {
  (void)unused;
  while (__atomic_load_n(&emitting, __ATOMIC_RELAXED)) {
    ll_emit(mine, (uint32_t)getpid(), 0);
    usleep(10);
  }
  return NULL;
}

/* Children are forked while other threads emit and the harvester works. */
static void fork_in_the_middle_of_things(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, emit_until_told, NULL);
  for (int i = 0; i < 20; i++) {
    usleep(2000);
    pid_t child = fork();
    if (child == 0) {
      ll_emit(mine, (uint32_t)getpid(), 1);
      _exit(ll_shutdown(TEST_PATIENCE_MS));
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) exit(1);
  }
  __atomic_store_n(&emitting, 0, __ATOMIC_RELAXED);
  pthread_join(thread, NULL);
}

static void check_pid(const llb_event *event, void *ctx) {
  *(uint64_t *)ctx += event->values[1].u32;
}

static void children_made_in_the_middle_of_things_emit(void **state) {
  (void)state;
  uint64_t from_children = 0;
  assert_int_equal(test_in_child(fork_in_the_middle_of_things, NULL), 0);
  test_batches batches = test_read_batches(directory.out);
  test_each_event(&batches, check_pid, &from_children);
  assert_int_equal(from_children, 20);
  test_free_batches(&batches);
}

enum { CHILDREN = 20, THREADS = 6, FEW = 200 };

static pthread_barrier_t start_line;

static void *emit_a_few(void *unused) {
  (void)unused;
  pthread_barrier_wait(&start_line);
  for (uint32_t i = 0; i < FEW; i++)
    ll_emit(mine, (uint32_t)getpid(), i);
  return NULL;
}

static void fork_and_emit_from_all_threads_at_once(void) {
  ll_emit(mine, (uint32_t)getpid(), 0);
  for (int i = 0; i < CHILDREN; i++) {
    pid_t child = fork();
    if (child == 0) {
      pthread_t threads[THREADS];
      pthread_barrier_init(&start_line, NULL, THREADS);
      for (int t = 0; t < THREADS; t++)
        pthread_create(&threads[t], NULL, emit_a_few, NULL);
      for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
      _exit(ll_shutdown(TEST_PATIENCE_MS));
    }
    if (test_wait(child) != 0) exit(1);
  }
}

static void all_threads_of_a_child_begin_one_emitter(void **state) {
  (void)state;
  assert_int_equal(test_in_child(fork_and_emit_from_all_threads_at_once, NULL), 0);
  test_batches batches = test_read_batches(directory.out);
  assert_int_equal(test_events_in(&batches), 1 + CHILDREN * THREADS * FEW);
  unsigned finals = 0;
  for (size_t i = 0; i < batches.count; i++)
    finals += (batches.at[i]->flags & LLB_FINAL) != 0;
  assert_int_equal(finals, 1 + CHILDREN);
  assert_int_equal(test_ring_files(&directory), 0);
  test_free_batches(&batches);
}

static void *emit_first_and_together(void *unused) {
  (void)unused;
  ll_emit(mine, (uint32_t)getpid(), 0);
  pthread_barrier_wait(&start_line);
  emit_mine();
  return NULL;
}

/* The forking thread emitted in the parent; in the child another thread emits first. */
static void fork_and_come_second(void) {
  ll_emit(mine, (uint32_t)getpid(), 0);
  if (ll_flush(TEST_PATIENCE_MS) != 0) exit(2);
  pid_t child = fork();
  if (child == 0) {
    pthread_t thread;
    pthread_barrier_init(&start_line, NULL, 2);
    pthread_create(&thread, NULL, emit_first_and_together, NULL);
    pthread_barrier_wait(&start_line);
    emit_mine();
    pthread_join(thread, NULL);
    _exit(ll_shutdown(TEST_PATIENCE_MS));
  }
  if (test_wait(child) != 0) exit(1);
}

static void the_thread_that_forked_has_a_ring_of_its_own_in_the_child(void **state) {
  (void)state;
  assert_int_equal(test_in_child(fork_and_come_second, NULL), 0);
  test_batches batches = test_read_batches(directory.out);
  assert_int_equal(test_events_in(&batches), 1 + 1 + 2 * EACH);
  assert_int_equal(test_drops_in(&batches), 0);
  test_free_batches(&batches);
}

static volatile sig_atomic_t forks, is_child;

static void fork_in_handler(int signal) {
  (void)signal;
  if (is_child || forks == 100) return;
  forks++;
  pid_t child = fork();
  int status;
  if (child == 0)
    is_child = 1;
  else if (waitpid(child, &status, 0) != child || status != 0)
    _exit(1);
}

static void fork_inside_of_emits(void) {
  ll_emit(mine, 0, 0);
  signal(SIGALRM, fork_in_handler);
  setitimer(ITIMER_REAL, &(struct itimerval){{0, 2000}, {0, 2000}}, NULL);
  while (forks < 100 && !is_child)
    ll_emit(mine, 0, 0);
  if (is_child) _exit(0);
  setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
}

static void a_child_made_inside_of_an_emit_finishes_it_unharmed(void **state) {
  (void)state;
  assert_int_equal(test_in_child(fork_inside_of_emits, NULL), 0);
}

#if defined(__x86_64__)
/* With the trap flag the kernel sends SIGTRAP after every instruction, and the handler forks: the child runs the rest
 * of the emit at full speed. */
enum { TRAP_FLAG = 0x100 };
static volatile sig_atomic_t stepping, instructions;

static void set_trap_flag(void *context, bool on) {
  greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
  *flags = on ? *flags | TRAP_FLAG : *flags & ~TRAP_FLAG;
}

static void fork_after_instruction(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  if (!stepping) {
    set_trap_flag(context, false);
    return;
  }
  instructions++;
  set_trap_flag(context, true);
  pid_t child = fork();
  int status;
  if (child == 0) {
    stepping = 0;
    is_child = 1;
    set_trap_flag(context, false);
  } else if (waitpid(child, &status, 0) != child || status != 0) {
    _exit(1);
  }
}

static const uint32_t marks[] = {0xd15ea5e5, 0x0ddba115};

/* Returns 1 if an event overwrote the library's variables. */
static int mark_is_in_library(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size, (void)unused;
  if (strstr(object->dlpi_name, "liblifeline.so") == NULL) return 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    const void *begin = (const char *)object->dlpi_addr + segment->p_vaddr;
    bool variables = segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0;
    if (variables && memmem(begin, segment->p_memsz, marks, sizeof marks) != NULL) return 1;
  }
  return 0;
}

static unsigned events_before;
static bool without_memory;

/* Leaves the child memory for a ring, and not for as much as the ring file has. */
static void limit_memory(void) {
  enum { SOME_MORE = 4 << 20 };
  unsigned long data;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%*u %*u %*u %*u %*u %lu", &data) != 1) exit(4);
  fclose(file);
  struct rlimit limit;
  if (getrlimit(RLIMIT_DATA, &limit) != 0) exit(5);
  limit.rlim_cur = data * (rlim_t)sysconf(_SC_PAGESIZE) + SOME_MORE;
  if (setrlimit(RLIMIT_DATA, &limit) != 0) exit(5);
}

static void fork_after_each_instruction_of_an_emit(void) {
  for (uint32_t i = 0; i < events_before; i++)
    ll_emit(mine, i, 0);
  if (without_memory) limit_memory();
  sigaction(SIGTRAP, &(struct sigaction){.sa_sigaction = fork_after_instruction, .sa_flags = SA_SIGINFO}, NULL);
  stepping = 1;
  raise(SIGTRAP);
  ll_emit(mine, marks[0], marks[1]);
  stepping = 0;
  /* A producer that the kernel has wiped must lead the child's next emit to an emitter of its own. */
  if (is_child && ll_tls_producer->mask == 0 && ll_tls_producer->limit != 0) _exit(2);
  if (is_child) _exit(dl_iterate_phdr(mark_is_in_library, NULL));
  if (instructions < 10) exit(3);
}

#else
static void fork_after_each_instruction_of_an_emit(void) {}
#endif

static void a_child_may_be_made_after_any_instruction_of_an_emit(void **state) {
  (void)state;
  enum { HALF_RING = 2048, MORE_THAN_32_KIB = 3000 };
  static const unsigned before[] = {HALF_RING, MORE_THAN_32_KIB};
  for (int i = 0; i < 4; i++) {
    events_before = before[i / 2];
    without_memory = i % 2;
    assert_int_equal(test_in_child(fork_after_each_instruction_of_an_emit, NULL), 0);
  }
}

/* Forks while the harvester loads the sink and its libraries. */
static void fork_at_once(void) {
  ll_emit(mine, (uint32_t)getpid(), 0);
  pid_t children[CHILDREN];
  for (int i = 0; i < CHILDREN; i++) {
    children[i] = fork();
    if (children[i] != 0) continue;
    ll_emit(mine, (uint32_t)getpid(), 0);
    ll_shutdown(0); /* opens the sink first */
    _exit(0);
  }
  for (int i = 0; i < CHILDREN; i++)
    if (test_wait(children[i]) != 0) exit(1);
  ll_shutdown(0);
}

static void children_made_while_libraries_are_loaded_run_on(void **state) {
  (void)state;
  enum { ROUNDS = 30 };
  char output[200];
  snprintf(output, sizeof output, "%s/said", directory.path);
  setenv("LIFELINE_URL", "nats://127.0.0.1:1", 1);
  setenv("LIFELINE_PLUGIN_DIR", TEST_BIN_DIR "/../lib/lifeline", 1);
  for (int i = 0; i < ROUNDS; i++)
    assert_int_equal(test_in_child(fork_at_once, output), 0);
  unsetenv("LIFELINE_PLUGIN_DIR");
}

enum { SKIPPED = 77 };

int main(void) {
  /* ThreadSanitizer does not support new threads in a child of a multithreaded process. AddressSanitizer (gcc 12) does
   * not handle its allocator's locks in fork: if another thread held one, the child deadlocks, at the latest in the
   * leak check at its exit. (Or its harvester deadlocks at its start, and the shutdown times out.) */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  puts("skipped: this sanitizer does not support what forks do here");
  return SKIPPED;
#endif
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(a_forked_child_is_an_incarnation_of_its_own),
      TEST(a_killed_childs_event_is_recovered),
      TEST(a_child_forked_without_handlers_sends_its_events_or_leaves_them),
      TEST(a_child_that_emits_nothing_leaves_the_parents_events_alone),
      TEST(children_made_in_the_middle_of_things_emit),
      TEST(all_threads_of_a_child_begin_one_emitter),
      TEST(the_thread_that_forked_has_a_ring_of_its_own_in_the_child),
      TEST(a_child_made_inside_of_an_emit_finishes_it_unharmed),
      TEST(a_child_may_be_made_after_any_instruction_of_an_emit),
      TEST(children_made_while_libraries_are_loaded_run_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
