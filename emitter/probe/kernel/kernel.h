/* What the kernel does for and to chosen processes: run queue latency, waits by reason, requests to disks, the network,
 * system calls. Measured by eBPF programs; without the rights or the kernel for them by what /proc
 * has. One line of the log says which it is, why, and what is missing.
 *
 * By default the values of an interval are added up per process, and kernel_sample emits an event for each kind. Single
 * events (kernel.switch, kernel.request, kernel.call, kernel.segment) are measured while their type is on.
 *
 * All functions are for one thread. Those that return int return 0 or an errno value.
 */
#ifndef PROBE_KERNEL_KERNEL_H
#define PROBE_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kernel kernel;

/* Single events are off unless an activation switches them on. These rules go before LIFELINE_RESOLUTION's. */
#define KERNEL_RULES "kernel.switch off; kernel.request off; kernel.call off; kernel.segment off"

/* Parses "sched,offcpu,block,net,syscalls" to a mask. 0: a word is unknown, or there is none. */
unsigned kernel_views_of(const char *list);

/* Whether the list has only "ebpf" and "proc". */
bool kernel_sources_are_valid(const char *list);

/* What this build can use, such as "ebpf, proc". */
const char *kernel_built(void);

/* Opens the best source that measures one of these views, among those named in `sources` (NULL: all). EINVAL: none can.
 * `log` gets one line for each thing that is missing. */
int kernel_open(unsigned views, const char *sources, void (*log)(const char *line), kernel **opened);

/* Measures the process with its threads, and what it forks, from now on; their events carry the session, 16 bytes or
 * NULL. ESRCH: there is no such process. ENOSPC: too many. Watching it again only changes its session. */
int kernel_watch(kernel *on, uint32_t pid, const uint8_t *session);

/* The same for the descendants that newly watched processes have already. Reads all of /proc if there are such. */
void kernel_watch_children(kernel *on);

/* The process is not there any more. The next kernel_sample emits the rest of its values. */
void kernel_forget(kernel *on, uint32_t pid);

/* Emits what was measured since the last call. */
void kernel_sample(kernel *on);

/* Call kernel_drain while this descriptor is readable, or at least ten times per second if single events are on. -1: no
 * need. */
int kernel_descriptor(kernel *on);
void kernel_drain(kernel *on);

/* Samples once more. */
void kernel_close(kernel *on);

#endif
