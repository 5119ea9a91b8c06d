#include "broker_clock.h"

#include "base/plugins.h"
#include "base/say.h"

#include <lifeline/events.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { SCHEME_MAX = 16, ROUNDS_PATIENCE = 3 };

void broker_clock_open(broker_clock *all, const char *url) {
  char name[64], path[PATH_MAX], why[512];
  *all = (broker_clock){.plugin = NULL};
  size_t length = url != NULL ? strspn(url, "abcdefghijklmnopqrstuvwxyz0123456789") : 0;
  if (length == 0 || length >= SCHEME_MAX || url[length] != ':') return;
  snprintf(name, sizeof name, "lifeline-clock-%.*s.so", (int)length, url);
  if (!ll_plugin_find(name, path)) return; /* a sink that has no clock */
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
