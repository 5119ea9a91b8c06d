/* The compiled programs: loaded, attached, and their variables and maps by name. */
#ifndef KERNEL_EBPF_OBJECT_H
#define KERNEL_EBPF_OBJECT_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINKS_MAX = 32 };

typedef struct object {
  struct bpf_object *programs;
  struct bpf_link *links[LINKS_MAX];
  unsigned links_used;
} object;

/* Opens the object, and leaves out all programs whose tracepoint this kernel lacks or which no view of *views needs. A
 * view without a tracepoint that it needs is removed from *views, and `why` names it. 0 or an errno value, with `why`.
 */
int object_open(object *opened, unsigned *views, char *why, size_t why_bytes);

/* Whether the program of this tracepoint is not left out. */
bool object_has(const object *of, const char *tracepoint);

/* The memory of a global variable; before object_load that of its initial value. NULL: no such variable. */
void *object_variable(const object *of, const char *name, size_t bytes);

/* -1: no such map. Valid after object_load. */
int object_map(const object *of, const char *name);

/* Before object_load. */
int object_resize(const object *of, const char *map, uint32_t entries);

/* Loads and attaches the programs. The kernel detaches them when the process ends, however it does. */
int object_load(object *opened, char *why, size_t why_bytes);

void object_close(object *opened);

#endif
