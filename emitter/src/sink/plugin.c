#include "plugin.h"

#include "base/atomics.h"
#include "base/library.h"
#include "base/loading.h"
#include "base/low.h"
#include "base/plugins.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TEXT_OF(token) #token
#define NAME_OF(token) TEXT_OF(token)

enum { SCHEME_MAX = 16 };

static bool scheme_of(const char *url, char scheme[SCHEME_MAX]) {
  size_t length = strspn(url, "abcdefghijklmnopqrstuvwxyz0123456789");
  if (length == 0 || length >= SCHEME_MAX || url[length] != ':') return false;
  if (strncmp(url + length, "://", 3) != 0 && strncmp(url, "null:", 5) != 0) return false; /* localhost:4222 */
  memcpy(scheme, url, length);
  scheme[length] = '\0';
  return true;
}

enum { LOADED_MOST = 16 };

/* Lists the schemes as "null:, file:, nats:". */
static void list_installed(char *list, size_t list_bytes) {
  static const char begin[] = "lifeline-sink-";
  size_t used = (size_t)snprintf(list, list_bytes, "null:, file:");
  for (unsigned i = 0; i < LL_PLUGIN_PLACES; i++) {
    char directory[PATH_MAX], name[SCHEME_MAX + 4];
    DIR *opened = ll_plugin_place(i, directory) ? LL_HOLDING_LOW(opendir(directory)) : NULL;
    if (opened == NULL) continue;
    for (struct dirent *entry; (entry = readdir(opened)) != NULL;) {
      const char *scheme = entry->d_name + sizeof begin - 1;
      if (strncmp(entry->d_name, begin, sizeof begin - 1) != 0 || strlen(scheme) >= SCHEME_MAX + 3) continue;
      const char *dot = strchr(scheme, '.');
      if (dot == NULL || strcmp(dot, ".so") != 0) continue;
      snprintf(name, sizeof name, ", %.*s:", (int)(dot - scheme), scheme);
      if (strstr(list, name) == NULL && used + strlen(name) < list_bytes)
        used += (size_t)snprintf(list + used, list_bytes - used, "%s", name);
    }
    closedir(opened);
  }
}

static const ll_sink_plugin *loaded[LOADED_MOST];

/* Two threads may load the same plugin at the same time, and no plugin is ever unloaded. */
static bool remember(const ll_sink_plugin *plugin) {
  for (unsigned i = 0; i < LOADED_MOST; i++) {
    const ll_sink_plugin *there = NULL;
    if (__atomic_compare_exchange_n(&loaded[i], &there, plugin, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
        there == plugin)
      return true;
  }
  return false;
}

uint32_t ll_sink_threads(void) {
  uint32_t threads = 0;
  for (unsigned i = 0; i < LOADED_MOST; i++) {
    const ll_sink_plugin *plugin = load_acquire(&loaded[i]);
    if (plugin != NULL && plugin->threads != NULL) threads += plugin->threads();
  }
  return threads;
}

const ll_sink_plugin *ll_sink_plugin_for(const char *url, char *why, size_t why_bytes) {
  char scheme[SCHEME_MAX], name[64], path[PATH_MAX];
  if (!scheme_of(url, scheme)) {
    snprintf(why, why_bytes,
             "the URL of the sink must begin with nats://, kafka://, file:/// or null:, such as nats://127.0.0.1:4222");
    return NULL;
  }
  if (strcmp(scheme, ll_sink_null.scheme) == 0) return &ll_sink_null;
  if (strcmp(scheme, ll_sink_file.scheme) == 0) return &ll_sink_file;

  snprintf(name, sizeof name, "lifeline-sink-%s.so", scheme);
  if (!ll_plugin_find(name, path)) {
    char installed[256], where[PATH_MAX];
    list_installed(installed, sizeof installed);
    for (unsigned i = 0; i < LL_PLUGIN_PLACES; i++)
      if (ll_plugin_place(i, where)) break;
    snprintf(why, why_bytes, "no sink for %s:// is installed; installed are %s (in %s)", scheme, installed, where);
    return NULL;
  }
  ll_loading_begin();
  void *library = ll_library_open(path);
  ll_loading_end();
  if (library == NULL) {
    snprintf(why, why_bytes, "the sink for %s:// cannot be loaded: %s", scheme, dlerror());
    return NULL;
  }
  const ll_sink_plugin *plugin = dlsym(library, NAME_OF(LL_SINK_ENTRY));
  if (plugin == NULL || plugin->abi != LL_SINK_ABI) {
    snprintf(why, why_bytes, "%s belongs to another version of Lifeline", path);
    return NULL;
  }
  if (!remember(plugin)) {
    snprintf(why, why_bytes, "too many kinds of sinks are in use");
    return NULL;
  }
  return plugin;
}

ll_sink *ll_sink_open(const ll_sink_plugin *plugin, const ll_sink_host *host, char *why, size_t why_bytes) {
  ll_loading_begin();
  ll_sink *sink = LL_HOLDING_LOW(plugin->open(host, why, why_bytes));
  ll_loading_end();
  return sink;
}
