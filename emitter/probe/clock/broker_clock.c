#include "broker_clock.h"

#include "base/say.h"

#include <lifeline/events.h>

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { SCHEME_MAX = 16, ROUNDS_PATIENCE = 3 };

/* Where the sinks are searched, too: the directory of the environment, which excludes the others; that of the library
 * beside the program's; the installed one. Never by name or working directory. */
static bool find(const char *scheme, char path[PATH_MAX]) {
  char own[PATH_MAX] = "";
  const char *given = secure_getenv("LIFELINE_PLUGIN_DIR");
  if (given != NULL && given[0] == '/')
    return snprintf(path, PATH_MAX, "%s/lifeline-clock-%s.so", given, scheme) < PATH_MAX;
  if (getauxval(AT_SECURE) == 0 && realpath("/proc/self/exe", own) != NULL) {
    *strrchr(own, '/') = '\0';
    if (snprintf(path, PATH_MAX, "%s/../lib/lifeline/lifeline-clock-%s.so", own, scheme) < PATH_MAX &&
        access(path, R_OK) == 0)
      return true;
  }
  return snprintf(path, PATH_MAX, "%s/lifeline-clock-%s.so", LL_INSTALLED_PLUGIN_DIR, scheme) < PATH_MAX;
}

void broker_clock_open(broker_clock *all, const char *url) {
  char scheme[SCHEME_MAX], path[PATH_MAX], why[512];
  *all = (broker_clock){.plugin = NULL};
  size_t length = url != NULL ? strspn(url, "abcdefghijklmnopqrstuvwxyz0123456789") : 0;
  if (length == 0 || length >= SCHEME_MAX || url[length] != ':') return;
  memcpy(scheme, url, length);
  scheme[length] = '\0';
  if (!find(scheme, path) || access(path, R_OK) != 0) return; /* a sink that has no clock */
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  const broker_clock_plugin *plugin = library != NULL ? dlsym(library, BROKER_CLOCK_ENTRY) : NULL;
  if (plugin == NULL || plugin->abi != BROKER_CLOCK_ABI) {
    say("the broker's clock is not measured: %s",
        library == NULL ? dlerror() : "its plugin belongs to another version");
    return;
  }
  all->clock = plugin->open(url, why, sizeof why);
  if (all->clock == NULL)
    say("the broker's clock is not measured: %s", why);
  else
    all->plugin = plugin;
}

bool broker_clock_sample(void *ctx, uint64_t now_ns) {
  broker_clock *all = ctx;
  (void)now_ns;
  if (all->plugin == NULL) return true;
  broker_time now = all->plugin->read(all->clock);
  if (now.answered == 0 && now.rounds >= ROUNDS_PATIENCE) {
    SAY_ONCE("the broker does not answer for its time: host.clock.broker is not emitted; it takes a bucket of "
             "activations (lifeline-setup) and the permission to read it, as every emitter has");
    return false;
  }
  if (now.answered == all->reported) return true;
  all->reported = now.answered;
  ll_emit(host_clock_broker, now.offset_ns, now.error_ns, now.round_trip_ns);
  return true;
}

void broker_clock_close(broker_clock *all) {
  if (all->plugin != NULL) all->plugin->close(all->clock);
  all->plugin = NULL;
}
