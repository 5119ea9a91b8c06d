#include "object.h"

#include "../cells.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The compiled programs, put here by the assembler. */
__asm__(".section .rodata\n"
        ".balign 16\n"
        "lifeline_programs:\n"
        ".incbin \"" KERNEL_PROGRAMS "\"\n"
        "lifeline_programs_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const char lifeline_programs[] __attribute__((visibility("hidden")));
extern const char lifeline_programs_end[] __attribute__((visibility("hidden")));

/* Which views need a tracepoint. `optional`: they do with less if it is missing. */
static const struct {
  const char *name;
  unsigned views;
  bool optional;
} tracepoints[] = {
    {"sched_process_fork", ~0u, false},
    {"sched_process_exec", ~0u, false},
    {"sched_process_exit", ~0u, false},
    {"sched_switch", KERNEL_SCHED | KERNEL_OFFCPU, false},
    {"sched_wakeup", KERNEL_SCHED | KERNEL_OFFCPU, false},
    {"sched_wakeup_new", KERNEL_SCHED | KERNEL_OFFCPU, false},
    {"block_io_start", KERNEL_BLOCK, true},
    {"block_rq_issue", KERNEL_BLOCK, false},
    {"block_rq_complete", KERNEL_BLOCK, false},
    {"sock_send_length", KERNEL_NET, false},
    {"sock_recv_length", KERNEL_NET, false},
    {"sk_data_ready", KERNEL_NET, false},
    {"tcp_retransmit_skb", KERNEL_NET, false},
    {"sys_enter", KERNEL_SYSCALLS, false},
    {"sys_exit", KERNEL_SYSCALLS, false},
};
enum { TRACEPOINTS = sizeof tracepoints / sizeof tracepoints[0] };

/* --- the reason of an error, as libbpf says it: the end of the verifier's log if there is one, or its last message ---
 */

static char said[400];

static int keep_last(enum libbpf_print_level level, const char *format, va_list values) {
  char *text = NULL;
  static bool has_log;
  if (level == LIBBPF_DEBUG || vasprintf(&text, format, values) < 0) return 0;
  char *end = strstr(text, "-- END PROG LOAD LOG --");
  if (!has_log || end != NULL) {
    if (end != NULL) *end = '\0';
    size_t length = strlen(text), most = sizeof said - 1;
    while (length > 0 && text[length - 1] == '\n')
      text[--length] = '\0';
    memcpy(said, length > most ? text + length - most : text, (length < most ? length : most) + 1);
    for (char *at = said; (at = strchr(at, '\n')) != NULL;)
      *at = ' ';
  }
  has_log = has_log || end != NULL;
  free(text);
  return 0;
}

static int refuse(char *why, size_t why_bytes, const char *what, int error) {
  if (error == EPERM) /* EACCES is the verifier's */
    snprintf(why, why_bytes, "%s needs the capabilities CAP_BPF and CAP_PERFMON", what);
  else
    snprintf(why, why_bytes, "%s failed: %s (%s)", what, strerror(error), said);
  return error;
}

/* --- choosing programs --- */

static bool kernel_has(const struct btf *kernel, const char *tracepoint) {
  char name[64];
  snprintf(name, sizeof name, "btf_trace_%s", tracepoint);
  return btf__find_by_name_kind(kernel, name, BTF_KIND_TYPEDEF) >= 0;
}

static void name_views(unsigned views, const char *tracepoint, char *why, size_t why_bytes) {
  static const struct {
    unsigned view;
    const char *name;
  } names[] = {{KERNEL_SCHED, "sched"},
               {KERNEL_OFFCPU, "offcpu"},
               {KERNEL_BLOCK, "block"},
               {KERNEL_NET, "net"},
               {KERNEL_SYSCALLS, "syscalls"}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    size_t used = strlen(why);
    if ((views & names[i].view) == 0) continue;
    snprintf(why + used, why_bytes - used, "%s%s (the kernel has no tracepoint %s)", used > 0 ? ", " : "",
             names[i].name, tracepoint);
  }
}

static struct bpf_program *program_of(const object *of, const char *tracepoint) {
  struct bpf_program *program;
  bpf_object__for_each_program(program, of->programs) {
    const char *section = bpf_program__section_name(program), *name = strchr(section, '/');
    if (name != NULL && strcmp(name + 1, tracepoint) == 0) return program;
  }
  return NULL;
}

static int choose_programs(object *opened, const struct btf *kernel, unsigned *views, char *why, size_t why_bytes) {
  bool has[TRACEPOINTS];
  for (int i = 0; i < TRACEPOINTS; i++) {
    has[i] = kernel_has(kernel, tracepoints[i].name);
    unsigned lost = has[i] || tracepoints[i].optional ? 0 : *views & tracepoints[i].views;
    if (lost != 0) name_views(lost, tracepoints[i].name, why, why_bytes);
    *views &= ~lost;
  }
  if (*views == 0) return ENOTSUP;
  for (int i = 0; i < TRACEPOINTS; i++)
    bpf_program__set_autoload(program_of(opened, tracepoints[i].name), has[i] && (*views & tracepoints[i].views) != 0);
  return 0;
}

bool object_has(const object *of, const char *tracepoint) {
  return bpf_program__autoload(program_of(of, tracepoint));
}

int object_open(object *opened, unsigned *views, char *why, size_t why_bytes) {
  LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "lifeline");
  memset(opened, 0, sizeof *opened);
  libbpf_set_print(keep_last);
  struct btf *kernel = btf__load_vmlinux_btf();
  if (kernel == NULL) {
    snprintf(why, why_bytes, "the kernel has no type information (BTF) in /sys/kernel/btf/vmlinux");
    return ENOTSUP;
  }
  size_t bytes = (size_t)(lifeline_programs_end - lifeline_programs);
  opened->programs = bpf_object__open_mem(lifeline_programs, bytes, &options);
  int error = opened->programs == NULL ? refuse(why, why_bytes, "opening the eBPF programs", errno) : 0;
  if (error == 0) error = choose_programs(opened, kernel, views, why, why_bytes);
  btf__free(kernel);
  return error;
}

/* --- variables and maps --- */

static void *in_section(const object *of, const char *section, uint32_t offset, size_t bytes) {
  struct bpf_map *map;
  bpf_object__for_each_map(map, of->programs) {
    const char *name = bpf_map__name(map), *dot = strrchr(name, '.');
    size_t room = 0;
    if (dot == NULL || strcmp(dot, section) != 0) continue;
    char *memory = (char *)(uintptr_t)bpf_map__initial_value(map, &room);
    return memory != NULL && offset + bytes <= room ? memory + offset : NULL;
  }
  return NULL;
}

void *object_variable(const object *of, const char *name, size_t bytes) {
  const struct btf *types = bpf_object__btf(of->programs);
  for (uint32_t id = 1; id < btf__type_cnt(types); id++) {
    const struct btf_type *section = btf__type_by_id(types, id);
    if (!btf_is_datasec(section)) continue;
    const struct btf_var_secinfo *variable = btf_var_secinfos(section);
    for (unsigned i = 0; i < btf_vlen(section); i++, variable++) {
      const struct btf_type *type = btf__type_by_id(types, variable->type);
      if (!btf_is_var(type) || strcmp(btf__name_by_offset(types, type->name_off), name) != 0) continue;
      return variable->size == bytes
                 ? in_section(of, btf__name_by_offset(types, section->name_off), variable->offset, bytes)
                 : NULL;
    }
  }
  return NULL;
}

int object_resize(const object *of, const char *map, uint32_t entries) {
  struct bpf_map *found = bpf_object__find_map_by_name(of->programs, map);
  return found == NULL ? ENOENT : -bpf_map__set_max_entries(found, entries);
}

int object_map(const object *of, const char *name) {
  return bpf_object__find_map_fd_by_name(of->programs, name);
}

/* --- life --- */

/* Puts the programs' variables where their initial values were: later releases of libbpf do it by themselves. */
static int share_variables(const object *opened) {
  struct bpf_map *map;
  size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes;
  bpf_object__for_each_map(map, opened->programs) {
    const char *name = bpf_map__name(map), *dot = strrchr(name, '.');
    if (dot == NULL || strcmp(dot, ".bss") != 0) continue;
    void *memory = (void *)(uintptr_t)bpf_map__initial_value(map, &bytes);
    bytes = (bytes + page - 1) / page * page;
    if (mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, bpf_map__fd(map), 0) == MAP_FAILED)
      return errno;
  }
  return 0;
}

int object_load(object *opened, char *why, size_t why_bytes) {
  struct bpf_program *program;
  int error = -bpf_object__load(opened->programs);
  if (error == 0) error = share_variables(opened);
  if (error != 0) return refuse(why, why_bytes, "loading the eBPF programs", error);
  bpf_object__for_each_program(program, opened->programs) {
    if (!bpf_program__autoload(program)) continue;
    struct bpf_link *link = opened->links_used < LINKS_MAX ? bpf_program__attach(program) : NULL;
    if (link == NULL) return refuse(why, why_bytes, "attaching the eBPF programs", errno);
    opened->links[opened->links_used++] = link;
  }
  return 0;
}

void object_close(object *opened) {
  while (opened->links_used > 0)
    bpf_link__destroy(opened->links[--opened->links_used]);
  bpf_object__close(opened->programs);
  opened->programs = NULL;
}
