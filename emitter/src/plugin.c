#include "plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
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

/* In order: what the environment says; beside liblifeline.so; beside the directory of a program that has the core
 * inside of it; where the build installs to. Only the last one in a set-user-id program. */
static bool find_plugin(const char *scheme, char path[PATH_MAX]) {
  char own[PATH_MAX] = "";
  const char *given = secure_getenv("LIFELINE_PLUGIN_DIR");
  Dl_info self;
  bool secure = getauxval(AT_SECURE) != 0;
  if (!secure && dladdr((const void *)&ll_sink_null, &self) != 0 && realpath(self.dli_fname, own) != NULL)
    *strrchr(own, '/') = '\0';
  const struct {
    const char *base, *below;
  } places[] = {{given, ""}, {own, "/lifeline"}, {own, "/../lib/lifeline"}, {LL_INSTALLED_PLUGIN_DIR, ""}};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    if (places[i].base == NULL || places[i].base[0] != '/') continue;
    int length = snprintf(path, PATH_MAX, "%s%s/lifeline-sink-%s.so", places[i].base, places[i].below, scheme);
    if (length > 0 && length < PATH_MAX && access(path, R_OK) == 0) return true;
    if (places[i].base == given) return false;
  }
  return false;
}

const ll_sink_plugin *ll_sink_plugin_for(const char *url, char *why, size_t why_bytes) {
  char scheme[SCHEME_MAX], path[PATH_MAX];
  if (!scheme_of(url, scheme)) {
    snprintf(why, why_bytes, "the URL of the sink must begin with nats://, kafka://, file:/// or null:");
    return NULL;
  }
  if (strcmp(scheme, ll_sink_null.scheme) == 0) return &ll_sink_null;
  if (strcmp(scheme, ll_sink_file.scheme) == 0) return &ll_sink_file;

  if (!find_plugin(scheme, path)) {
    snprintf(why, why_bytes, "no sink for %s:// is installed (the last place looked at: %s)", scheme, path);
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
