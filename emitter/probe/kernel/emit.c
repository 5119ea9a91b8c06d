#include "emit.h"

#include "base/clock.h"
#include "names.h"

#include <lifeline/dynamic.h>
#include <lifeline/events.h>
#include <stdio.h>
#include <string.h>

enum { SESSIONS_MAX = 65536, CALLS_MAX = 65536, HISTOGRAM_BYTES = KERNEL_BUCKETS * 36 };

typedef struct session {
  uint8_t id[16];
  bool is_set;
} session;

typedef struct call_sums {
  struct kernel_process process;
  kernel_sum duration, bytes, rate;
} call_sums;

void emitter_open(kernel_emitter *made, const char *source, unsigned views) {
  memset(made, 0, sizeof *made);
  made->source = source;
  made->views = views;
  made->since_ns = ll_now_ns(CLOCK_MONOTONIC);
  made->epoch_ns = (int64_t)(ll_now_ns(CLOCK_REALTIME) - made->since_ns);
  keymap_init(&made->sessions, sizeof(session), SESSIONS_MAX);
  keymap_init(&made->calls, sizeof(call_sums), CALLS_MAX);
}

void emitter_close(kernel_emitter *made) {
  keymap_free(&made->sessions);
  keymap_free(&made->calls);
}

/* --- sessions --- */

void emitter_set_session(kernel_emitter *of, uint32_t number, const uint8_t *id) {
  struct kernel_key key = {.process = number};
  session *entry = keymap_make(&of->sessions, &key);
  if (entry == NULL) return;
  entry->is_set = id != NULL;
  if (id != NULL) memcpy(entry->id, id, sizeof entry->id);
}

/* A child's session is its parent's. */
void emitter_process(void *ctx, uint32_t number, const struct kernel_process *process) {
  kernel_emitter *of = ctx;
  struct kernel_key own = {.process = number}, parents = {.process = process->parent};
  if (process->parent == 0 || keymap_find(&of->sessions, &own) != NULL) return;
  const session *inherited = keymap_find(&of->sessions, &parents);
  if (inherited == NULL) return;
  session copy = *inherited;
  emitter_set_session(of, number, copy.is_set ? copy.id : NULL);
}

void emitter_ended(void *ctx, uint32_t number) {
  struct kernel_key key = {.process = number};
  keymap_remove(&((kernel_emitter *)ctx)->sessions, &key);
}

static ll_bytes session_of(kernel_emitter *of, uint32_t number) {
  struct kernel_key key = {.process = number};
  const session *entry = keymap_find(&of->sessions, &key);
  return entry != NULL && entry->is_set ? (ll_bytes){entry->id, sizeof entry->id} : (ll_bytes){"", 0};
}

/* --- sums --- */

/* The buckets that are not empty: "lower bound:count", separated by blanks. */
static const char *histogram_of(const kernel_sum *sum, char text[HISTOGRAM_BYTES]) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < KERNEL_BUCKETS; i++)
    if (sum->histogram[i] != 0)
      used += (size_t)snprintf(text + used, HISTOGRAM_BYTES - used, "%s%llu:%llu", used > 0 ? " " : "",
                               i == 0 ? 0 : 1ull << i, (unsigned long long)sum->histogram[i]);
  return text;
}

static void hold_call(kernel_emitter *to, const struct kernel_process *process, const struct kernel_key *key,
                      const kernel_sum *sum) {
  struct kernel_key operation = {.process = key->process, .detail = key->detail};
  call_sums *sums = keymap_make(&to->calls, &operation);
  if (sums == NULL) return;
  sums->process = *process;
  if (key->kind == KERNEL_KIND_CALL)
    sums->duration = *sum;
  else if (key->kind == KERNEL_KIND_CALL_BYTES)
    sums->bytes = *sum;
  else
    sums->rate = *sum;
}

void emitter_sum(void *ctx, const struct kernel_process *process, const struct kernel_key *key, const kernel_sum *sum) {
  kernel_emitter *to = ctx;
  char text[HISTOGRAM_BYTES], device[32], name[17];
  const char *program = name_of_program(process->program, name), *histogram = histogram_of(sum, text);
  ll_bytes owner = session_of(to, key->process);
  switch (key->kind) {
  case KERNEL_KIND_RUNQUEUE:
    ll_emit(kernel_runqueue, process->pid, owner, program, to->source, name_of_after(key->detail), to->interval_ns,
            sum->count, sum->sum, sum->min, sum->max, histogram);
    break;
  case KERNEL_KIND_WAIT:
    ll_emit(kernel_offcpu, process->pid, owner, program, to->source, name_of_reason(key->detail), to->interval_ns,
            sum->count, sum->sum, sum->min, sum->max, histogram);
    break;
  case KERNEL_KIND_BLOCK:
    ll_emit(kernel_block, process->pid, owner, program, to->source, name_of_request(key->detail),
            name_of_device(key->device, device, sizeof device), to->interval_ns, sum->count, sum->nbytes, sum->errors,
            sum->sum, sum->min, sum->max, histogram);
    break;
  case KERNEL_KIND_RECEIVE:
    ll_emit(kernel_receive, process->pid, owner, program, to->source, to->interval_ns, sum->count, sum->nbytes,
            sum->sum, sum->min, sum->max, histogram);
    break;
  case KERNEL_KIND_RETRANSMIT:
    ll_emit(kernel_retransmit, process->pid, owner, program, to->source, to->interval_ns, sum->count);
    break;
  default: hold_call(to, process, key, sum);
  }
}

/* --- system calls: as an event of their own, and as a caliper would report them --- */

static double variance_of(const kernel_sum *sum) {
  double count = (double)sum->count, mean = (double)sum->sum / count;
  double distances = sum->squares - mean * (double)sum->sum;
  return sum->count > 1 && distances > 0 ? distances / (count - 1) : 0;
}

/* What analyses compare: operations that move bytes, or that wait for them to be on a disk. */
static bool is_compared(unsigned operation) {
  unsigned target = operation / KERNEL_VERBS, verb = operation % KERNEL_VERBS;
  return target != KERNEL_TARGET_OTHER && target != KERNEL_TARGET_DEVICE &&
         (verb == KERNEL_VERB_READ || verb == KERNEL_VERB_WRITE || verb == KERNEL_VERB_SYNC);
}

static void emit_aspect(const kernel_emitter *to, const char *operation, const char *field, const char *unit,
                        const kernel_sum *sum) {
  if (sum->count == 0) return;
  ll_emit(lifeline_summary, operation, field, unit, to->interval_ns, sum->count, (double)sum->min, (double)sum->max,
          (double)sum->sum, (double)sum->sum / (double)sum->count, variance_of(sum), (uint64_t)0, 0);
}

static int emit_call(void *ctx, const struct kernel_key *key, void *entry) {
  kernel_emitter *to = ctx;
  const call_sums *sums = entry;
  const kernel_sum *duration = &sums->duration;
  char text[HISTOGRAM_BYTES], name[17], operation[32];
  name_of_operation(key->detail, operation, sizeof operation);
  ll_emit(kernel_syscall, sums->process.pid, session_of(to, key->process), name_of_program(sums->process.program, name),
          to->source, operation, to->interval_ns, duration->count, duration->nbytes, duration->errors, duration->sum,
          duration->min, duration->max, histogram_of(duration, text));
  if (!is_compared(key->detail)) return 0;
  emit_aspect(to, operation, "rate", "B/s", &sums->rate); /* the value comes last: it completes the report */
  emit_aspect(to, operation, "duration", "ns", duration);
  emit_aspect(to, operation, "value", "B", &sums->bytes);
  return 0;
}

void emitter_begin(kernel_emitter *to) {
  uint64_t now = ll_now_ns(CLOCK_MONOTONIC);
  to->interval_ns = now - to->since_ns;
  to->since_ns = now;
  to->epoch_ns = (int64_t)(ll_now_ns(CLOCK_REALTIME) - now);
}

void emitter_end(kernel_emitter *to) {
  keymap_keep(&to->calls, emit_call, to);
}

/* --- single events --- */

/* ll_event_is_on is 1 for a type that was never emitted, and here the type must be known to be on before its events are
 * made. So it is declared, too, which finds its state. */
static bool is_on(const ll_event_type *type, ll_dynamic **declared) {
  ll_dynamic_field fields[LL_DYNAMIC_FIELDS_MAX];
  for (unsigned i = 0; i < type->field_count; i++)
    fields[i] = (ll_dynamic_field){(ll_field_type)type->fields[i].code, type->fields[i].name, type->fields[i].unit};
  if (*declared == NULL && ll_declare(type->name, type->level, fields, type->field_count, declared) != 0) return false;
  return ll_is_on(*declared);
}

unsigned emitter_singles(void) {
  static const struct {
    const ll_event_type *type;
    unsigned views;
  } singles[] = {{&ll_type_kernel_switch, KERNEL_SCHED | KERNEL_OFFCPU},
                 {&ll_type_kernel_request, KERNEL_BLOCK},
                 {&ll_type_kernel_call, KERNEL_SYSCALLS},
                 {&ll_type_kernel_segment, KERNEL_NET}};
  static ll_dynamic *declared[sizeof singles / sizeof singles[0]];
  unsigned views = 0;
  for (size_t i = 0; i < sizeof singles / sizeof singles[0]; i++)
    if (is_on(singles[i].type, &declared[i])) views |= singles[i].views;
  return views;
}

void emitter_single(void *ctx, const struct kernel_process *process, const struct kernel_single *single) {
  kernel_emitter *to = ctx;
  char operation[32], local[64], peer[64];
  uint64_t at_ns = single->at_ns + (uint64_t)to->epoch_ns;
  ll_bytes owner = session_of(to, single->process);
  switch (single->kind) {
  case KERNEL_KIND_WAIT:
    ll_emit(kernel_switch, at_ns, process->pid, owner, single->thread, single->cpu,
            name_of_after((unsigned)single->third), name_of_reason(single->detail), single->first, single->second);
    break;
  case KERNEL_KIND_BLOCK:
    ll_emit(kernel_request, at_ns, process->pid, owner, single->thread, name_of_request(single->detail),
            name_of_device(single->device, operation, sizeof operation), single->second, single->first,
            single->third != 0);
    break;
  case KERNEL_KIND_CALL:
    ll_emit(kernel_call, at_ns, process->pid, owner, single->thread, single->device,
            name_of_operation(single->detail, operation, sizeof operation), (int32_t)single->third, single->first,
            (int64_t)single->second);
    break;
  case KERNEL_KIND_RETRANSMIT:
    ll_emit(kernel_segment, at_ns, process->pid, owner, name_of_end(&single->local, local, sizeof local),
            name_of_end(&single->peer, peer, sizeof peer));
    break;
  default: break;
  }
}

void emitter_losses(kernel_emitter *to, const uint64_t lost[KERNEL_LOSSES]) {
  if (memcmp(to->lost, lost, sizeof to->lost) == 0) return;
  memcpy(to->lost, lost, sizeof to->lost);
  ll_emit(kernel_lost, to->source, lost[KERNEL_LOST_SINGLES], lost[KERNEL_LOST_VALUES], lost[KERNEL_LOST_THREADS],
          lost[KERNEL_LOST_PROCESSES], lost[KERNEL_LOST_REQUESTS]);
}
