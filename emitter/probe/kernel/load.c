#include "load.h"

#include "base/plugins.h"
#include "kernel.h"

#include <dlfcn.h>
#include <stdio.h>

#define TEXT_OF(token) #token
#define NAME_OF(token) TEXT_OF(token)

static const char plugin[] = "lifeline-probe-ebpf.so";

const char *kernel_built(void) {
#ifdef KERNEL_WITH_EBPF
  return "ebpf, proc";
#else
  return "proc (without ebpf: clang or libbpf was missing when it was built)";
#endif
}

const kernel_source *load_ebpf(char *why, size_t why_bytes) {
  char path[PATH_MAX];
#ifndef KERNEL_WITH_EBPF
  snprintf(why, why_bytes, "ebpf: clang or libbpf was missing when the probe was built");
  return NULL;
#endif
  if (!ll_plugin_find(plugin, path)) {
    snprintf(why, why_bytes, "ebpf: %s is not installed", plugin);
    return NULL;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  const kernel_source *source = library == NULL ? NULL : dlsym(library, NAME_OF(KERNEL_SOURCE_ENTRY));
  if (source == NULL)
    snprintf(why, why_bytes, "ebpf: %s", dlerror());
  else if (source->abi != KERNEL_SOURCE_ABI)
    snprintf(why, why_bytes, "ebpf: %s belongs to another version of Lifeline", path);
  return source != NULL && source->abi == KERNEL_SOURCE_ABI ? source : NULL;
}
