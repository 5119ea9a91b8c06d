#include "plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_OF(token) #token
#define NAME_OF(token) TEXT_OF(token)

enum { SCHEME_MAX = 16 };

static bool scheme_of(const char *url, char scheme[SCHEME_MAX]) {
  size_t length = strspn(url, "abcdefghijklmnopqrstuvwxyz0123456789");
  if (length == 0 || length >= SCHEME_MAX || url[length] != ':') return false;
  memcpy(scheme, url, length);
  scheme[length] = '\0';
  return true;
}

/* lib/lifeline beside liblifeline.so; where the core is linked statically, what the build was told. */
static void plugin_directory(char directory[PATH_MAX]) {
  const char *given = secure_getenv("LIFELINE_PLUGIN_DIR");
  Dl_info self;
  if (given != NULL && *given == '/') {
    snprintf(directory, PATH_MAX, "%s", given);
    return;
  }
  snprintf(directory, PATH_MAX, "%s", LL_INSTALLED_PLUGIN_DIR);
  if (dladdr((const void *)&ll_sink_null, &self) == 0 || strstr(self.dli_fname, "liblifeline.so") == NULL) return;
  const char *slash = strrchr(self.dli_fname, '/');
  if (slash == NULL) return;
  snprintf(directory, PATH_MAX, "%.*s/lifeline", (int)(slash - self.dli_fname), self.dli_fname);
}

const ll_sink_plugin *ll_sink_plugin_for(const char *url, char *why, size_t why_bytes) {
  char scheme[SCHEME_MAX], directory[PATH_MAX], path[PATH_MAX + 64];
  if (!scheme_of(url, scheme)) {
    snprintf(why, why_bytes, "the URL of the sink must begin with nats://, kafka://, file:/// or null:");
    return NULL;
  }
  if (strcmp(scheme, ll_sink_null.scheme) == 0) return &ll_sink_null;
  if (strcmp(scheme, ll_sink_file.scheme) == 0) return &ll_sink_file;

  plugin_directory(directory);
  snprintf(path, sizeof path, "%s/lifeline-sink-%s.so", directory, scheme);
  if (access(path, R_OK) != 0) {
    snprintf(why, why_bytes, "no sink for %s:// is installed (%s)", scheme, path);
    return NULL;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == NULL) {
    snprintf(why, why_bytes, "the sink for %s:// cannot be loaded: %s", scheme, dlerror());
    return NULL;
  }
  const ll_sink_plugin *plugin = dlsym(library, NAME_OF(LL_SINK_ENTRY));
  if (plugin == NULL || plugin->abi != LL_SINK_ABI) {
    snprintf(why, why_bytes, "%s is of another version of Lifeline", path);
    return NULL;
  }
  return plugin;
}
