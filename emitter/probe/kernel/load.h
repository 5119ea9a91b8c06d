/* The source that is a shared object of its own, since it needs libbpf. */
#ifndef KERNEL_LOAD_H
#define KERNEL_LOAD_H

#include "source.h"

/* NULL: it was not built, is not installed, or cannot be loaded; the reason is added to `why`. */
const kernel_source *load_ebpf(char *why, size_t why_bytes);

#endif
