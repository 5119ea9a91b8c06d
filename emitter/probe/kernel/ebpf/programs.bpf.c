/* The programs that the kernel runs at its tracepoints, in one object. They are compiled for the kernel's virtual
 * machine by clang; the helpers that they call are open to programs under the GPL alone, which is why the object has a
 * second licence. */
#include "block.bpf.h"
#include "calls.bpf.h"
#include "life.bpf.h"
#include "net.bpf.h"
#include "sched.bpf.h"

char licence[] SEC("license") = "Dual MIT/GPL";
