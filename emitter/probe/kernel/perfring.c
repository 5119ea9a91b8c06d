#include "perfring.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum {
  PAGES_MOST = 256, /* of a ring; fewer if the limit of locked memory is lower */
  PAGES_LEAST = 8,
};

/* --- opening --- */

static int open_event(uint64_t id, int cpu, bool is_first) {
  struct perf_event_attr attributes = {
      .type = PERF_TYPE_TRACEPOINT,
      .size = sizeof attributes,
      .config = id,
      .sample_period = 1,
      .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
      .sample_id_all = 1,
      .task = is_first,
      .comm = is_first,
      .use_clockid = 1,
      .clockid = CLOCK_MONOTONIC,
      .watermark = 1,
      .wakeup_watermark = PAGES_LEAST / 2 * 4096,
  };
  return (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool map_ring(perfring *made, perf_cpu *cpu) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t pages = made->data_bytes != 0 ? made->data_bytes / page : PAGES_MOST;
  size_t least = made->data_bytes != 0 ? pages : PAGES_LEAST; /* all rings have the size of the first */
  for (; pages >= least; pages /= 2) {
    void *at = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, cpu->events[0], 0);
    if (at == MAP_FAILED) continue;
    cpu->page = at;
    made->data_bytes = pages * page;
    return true;
  }
  return false;
}

static int open_cpu(perfring *made, perf_cpu *cpu, int number, const uint64_t *ids) {
  struct epoll_event event = {.events = EPOLLIN};
  cpu->number = (unsigned)number;
  for (unsigned i = 0; i < made->tracepoint_count; i++) {
    cpu->events[i] = open_event(ids[i], number, i == 0);
    if (cpu->events[i] < 0) return errno;
    if (i == 0 && !map_ring(made, cpu)) return errno;
    if (i > 0 && ioctl(cpu->events[i], PERF_EVENT_IOC_SET_OUTPUT, cpu->events[0]) != 0) return errno;
  }
  return epoll_ctl(made->poll, EPOLL_CTL_ADD, cpu->events[0], &event) != 0 ? errno : 0;
}

int perfring_open(perfring *made, const uint64_t *ids, unsigned count, char *why, size_t why_bytes) {
  int cpus = get_nprocs_conf(), error = 0;
  memset(made, 0, sizeof *made);
  made->tracepoint_count = count;
  made->poll = epoll_create1(EPOLL_CLOEXEC);
  made->cpus = calloc((size_t)cpus, sizeof *made->cpus);
  if (made->cpus == NULL || made->poll < 0) error = ENOMEM;
  for (int i = 0; error == 0 && i < cpus; i++) {
    perf_cpu *cpu = &made->cpus[made->cpu_count++];
    memset(cpu->events, -1, sizeof cpu->events);
    error = open_cpu(made, cpu, i, ids);
    if (error == ENODEV) error = 0, made->cpu_count--; /* it is offline */
  }
  if (error == EACCES || error == EPERM)
    snprintf(why, why_bytes, "tracepoints need the capability CAP_PERFMON, or kernel.perf_event_paranoid=-1");
  else if (error != 0)
    snprintf(why, why_bytes, "perf_event_open failed: %s", strerror(error));
  if (error != 0) perfring_close(made);
  return error;
}

void perfring_close(perfring *opened) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (unsigned i = 0; i < opened->cpu_count; i++) {
    perf_cpu *cpu = &opened->cpus[i];
    if (cpu->page != NULL) munmap(cpu->page, opened->data_bytes + page);
    for (unsigned e = 0; e < PERF_TRACEPOINTS_MAX; e++)
      if (cpu->events[e] >= 0) close(cpu->events[e]);
  }
  if (opened->poll >= 0) close(opened->poll);
  free(opened->cpus);
  memset(opened, 0, sizeof *opened);
  opened->poll = -1;
}

/* --- reading --- */

static const char *data_of(const perf_cpu *cpu) {
  return (const char *)cpu->page + sysconf(_SC_PAGESIZE);
}

/* Copies bytes of the ring, which may continue at its beginning. */
static void copy_out(const perfring *from, const perf_cpu *cpu, uint64_t position, void *to, size_t bytes) {
  size_t at = position & (from->data_bytes - 1), first = from->data_bytes - at;
  if (first > bytes) first = bytes;
  memcpy(to, data_of(cpu) + at, first);
  memcpy((char *)to + first, data_of(cpu), bytes - first);
}

/* Finds the time of the next record: first in a sample, last in all others. */
static void look_ahead(const perfring *from, perf_cpu *cpu) {
  struct perf_event_header header;
  uint64_t head = __atomic_load_n(&cpu->page->data_head, __ATOMIC_ACQUIRE), tail = cpu->page->data_tail;
  cpu->next_ns = UINT64_MAX;
  if (head == tail) return;
  copy_out(from, cpu, tail, &header, sizeof header);
  size_t at = header.type == PERF_RECORD_SAMPLE ? sizeof header : header.size - sizeof(uint64_t);
  copy_out(from, cpu, tail + at, &cpu->next_ns, sizeof cpu->next_ns);
}

static void take_next(const perfring *from, perf_cpu *cpu, void (*take)(void *ctx, const perf_record *record),
                      void *ctx) {
  static _Alignas(8) char bytes[UINT16_MAX + 1]; /* a size has 16 bits */
  struct perf_event_header header;
  uint64_t tail = cpu->page->data_tail;
  copy_out(from, cpu, tail, &header, sizeof header);
  copy_out(from, cpu, tail, bytes, header.size);
  perf_record record = {.type = header.type, .cpu = cpu->number, .at_ns = cpu->next_ns};
  if (header.type == PERF_RECORD_SAMPLE) { /* the time, the size of the data, the data */
    uint32_t size = 0;
    size_t at = sizeof header + sizeof(uint64_t);
    memcpy(&size, bytes + at, sizeof size);
    record.data = bytes + at + sizeof size;
    record.bytes = at + sizeof size + size <= header.size ? size : 0;
  } else {
    record.data = bytes + sizeof header;
    record.bytes = header.size - sizeof header - sizeof(uint64_t);
  }
  take(ctx, &record);
  __atomic_store_n(&cpu->page->data_tail, tail + header.size, __ATOMIC_RELEASE);
  look_ahead(from, cpu);
}

void perfring_drain(perfring *from, void (*take)(void *ctx, const perf_record *record), void *ctx) {
  uint64_t until = ll_now_ns(CLOCK_MONOTONIC) - PERF_SETTLE_NS;
  for (unsigned i = 0; i < from->cpu_count; i++)
    look_ahead(from, &from->cpus[i]);
  for (;;) {
    perf_cpu *oldest = NULL;
    for (unsigned i = 0; i < from->cpu_count; i++)
      if (oldest == NULL || from->cpus[i].next_ns < oldest->next_ns) oldest = &from->cpus[i];
    if (oldest == NULL || oldest->next_ns > until) return;
    take_next(from, oldest, take, ctx);
  }
}
