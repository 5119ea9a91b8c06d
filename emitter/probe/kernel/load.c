#include "load.h"

#include "kernel.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define TEXT_OF(token) #token
#define NAME_OF(token) TEXT_OF(token)

static const char plugin[] = "lifeline-probe-ebpf.so";

const char *kernel_built(void) {
#ifdef KERNEL_WITH_EBPF
  return "ebpf, perf, proc";
#else
  return "perf, proc (without ebpf: clang or libbpf was missing when it was built)";
#endif
}

/* Where sinks are, too: LIFELINE_PLUGIN_DIR, which excludes the others; beside the program, unless it has more rights
 * than its user, who may have linked it anywhere; where it is installed. */
static bool find_plugin(char path[PATH_MAX + 64]) {
  char own[PATH_MAX];
  const char *given = secure_getenv("LIFELINE_PLUGIN_DIR");
  if (given != NULL && given[0] == '/') {
    snprintf(path, PATH_MAX + 64, "%s/%s", given, plugin);
    return access(path, R_OK) == 0;
  }
  ssize_t length = getauxval(AT_SECURE) == 0 ? readlink("/proc/self/exe", own, sizeof own - 1) : 0;
  if (length > 0) {
    own[length] = '\0';
    *strrchr(own, '/') = '\0';
    snprintf(path, PATH_MAX + 64, "%s/../lib/lifeline/%s", own, plugin);
    if (access(path, R_OK) == 0) return true;
  }
  snprintf(path, PATH_MAX + 64, "%s/%s", LL_INSTALLED_PLUGIN_DIR, plugin);
  return access(path, R_OK) == 0;
}

const kernel_source *load_ebpf(char *why, size_t why_bytes) {
  char path[PATH_MAX + 64];
#ifndef KERNEL_WITH_EBPF
  snprintf(why, why_bytes, "ebpf: clang or libbpf was missing when the probe was built");
  return NULL;
#endif
  if (!find_plugin(path)) {
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
