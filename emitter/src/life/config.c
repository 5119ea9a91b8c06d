#include "config.h"

#include "base/cgroup.h"
#include "base/traceparent.h"
#include "base/utf8.h"
#include "resolution/rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VALUE_MAX = 4096 }; /* of the context */

typedef struct loader {
  char *why;
  size_t why_bytes;
  bool good;
} loader;

static const char *text_of(const char *option, const char *variable) {
  if (option != NULL && *option != '\0') return option;
  const char *value = secure_getenv(variable);
  return value != NULL && *value != '\0' ? value : NULL;
}

static void number_of(loader *load, uint64_t option, const char *variable, uint64_t standard, uint64_t least,
                      uint64_t most, uint64_t *value) {
  const char *text = secure_getenv(variable);
  *value = option != 0 ? option : standard;
  bool legal = true;
  if (option == 0 && text != NULL && *text != '\0') {
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    legal = errno == 0 && *end == '\0' && *text >= '0' && *text <= '9';
  }
  if (legal && *value >= least && *value <= most) return;
  if (load->good)
    snprintf(load->why, load->why_bytes, "%s must be a number from %llu to %llu", variable, (unsigned long long)least,
             (unsigned long long)most);
  load->good = false;
}

static unsigned small_number_of(loader *load, unsigned option, const char *variable, unsigned standard, unsigned least,
                                unsigned most) {
  uint64_t value;
  number_of(load, option, variable, standard, least, most, &value);
  return (unsigned)value;
}

static size_t bytes_of(loader *load, size_t option, const char *variable, size_t standard, size_t least, size_t most) {
  uint64_t value;
  number_of(load, option, variable, standard, least, most, &value);
  return (size_t)value;
}

/* The index of the value in the NULL-terminated `names`; the first is the default. */
static unsigned word_of(loader *load, const char *option, const char *variable, const char *const *names) {
  const char *value = text_of(option, variable);
  for (unsigned i = 0; names[i] != NULL; i++)
    if (value == NULL || strcmp(value, names[i]) == 0) return i;
  if (load->good) {
    int used = snprintf(load->why, load->why_bytes, "%s must be one of", variable);
    for (unsigned i = 0; names[i] != NULL && used > 0 && (size_t)used < load->why_bytes; i++)
      used += snprintf(load->why + used, load->why_bytes - (size_t)used, "%s %s", i > 0 ? "," : "", names[i]);
  }
  load->good = false;
  return 0;
}

static void copy_text(loader *load, const char *variable, const char *value, char *to, size_t to_bytes) {
  if (strlen(value) < to_bytes) {
    strcpy(to, value);
    return;
  }
  if (load->good) snprintf(load->why, load->why_bytes, "%s is longer than %zu bytes", variable, to_bytes - 1);
  load->good = false;
}

static void put_counted(ll_config *config, const char *text, size_t count) {
  uint16_t count16 = (uint16_t)count;
  memcpy(config->context + config->context_bytes, &count16, sizeof count16);
  memcpy(config->context + config->context_bytes + 2, text, count);
  config->context_bytes += 2 + (unsigned)count;
}

/* Encodes "key=value,key=value" in wire format. */
static void load_context(loader *load, ll_config *config, const char *text) {
  while (*text != '\0' && load->good) {
    size_t length = strcspn(text, ",");
    const char *equals = memchr(text, '=', length);
    size_t key = equals != NULL ? (size_t)(equals - text) : 0;
    size_t value = equals != NULL ? length - key - 1 : 0;
    if (key == 0 || key > 255 || value > VALUE_MAX ||
        config->context_bytes + key + value + 4 > sizeof config->context) {
      snprintf(load->why, load->why_bytes, "LIFELINE_CONTEXT must be key=value,key=value with keys of 1 to 255 bytes");
      load->good = false;
      return;
    }
    put_counted(config, text, key);
    put_counted(config, equals + 1, value);
    config->context_count++;
    text += length;
    if (*text == ',') text++;
  }
}

static void put_pair(loader *load, ll_config *config, const char *key, const char *value) {
  char pair[80];
  snprintf(pair, sizeof pair, "%s=%s", key, value);
  load_context(load, config, pair);
}

/* The session comes from LIFELINE_CONTEXT, or is the trace that TRACEPARENT names. In the context's session TRACEPARENT
 * only says which span of it the process is. */
static void load_session(ll_config *config, const char *context) {
  ll_session trace;
  size_t bytes = 0;
  const char *named = ll_session_in(context, &bytes);
  bool traced = ll_traceparent_parse(secure_getenv("TRACEPARENT"), &trace) == 0;
  if (named != NULL && !ll_session_id_parse(named, bytes, config->session.id))
    memset(config->session.id, 0, sizeof config->session.id);
  if (!traced || (named != NULL && memcmp(trace.id, config->session.id, sizeof trace.id) != 0)) return;
  config->session = trace;
  config->traced = true;
}

static void put_trace(loader *load, ll_config *config, const char *context) {
  char id[LL_SESSION_ID_TEXT], trace[LL_TRACEPARENT_BYTES];
  size_t bytes;
  if (!config->traced || !load->good) return;
  ll_session_id_text(config->session.id, id);
  ll_traceparent_format(&config->session, trace);
  if (ll_session_in(context, &bytes) == NULL) put_pair(load, config, "session", id);
  put_pair(load, config, "traceparent", trace);
}

static void load_routes(loader *load, ll_config *config, const char *text) {
  char why[256];
  if (ll_routes_parse(&config->streams.routes, text, why, sizeof why)) return;
  if (load->good) snprintf(load->why, load->why_bytes, "LIFELINE_ROUTES: %s", why);
  load->good = false;
}

static bool make_absolute(const char *given, char *directory, size_t directory_bytes) {
  size_t above = 0;
  if (*given != '/') {
    if (getcwd(directory, directory_bytes) == NULL) return false;
    above = strlen(directory);
  }
  int used = snprintf(directory + above, directory_bytes - above, above > 0 ? "/%s" : "%s", given);
  return used > 0 && (size_t)used < directory_bytes - above;
}

static bool is_anothers(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0 && (!S_ISDIR(status.st_mode) || status.st_uid != geteuid());
}

static const char *ring_dir_given(const char *option) {
  return text_of(option, "LIFELINE_RING_DIR");
}

bool ll_config_session_ring_dir(const char *option, char *directory, size_t directory_bytes) {
  const char *session = text_of(NULL, "XDG_RUNTIME_DIR");
  *directory = '\0';
  return ring_dir_given(option) == NULL && session != NULL && session[0] == '/' && !is_anothers(session) &&
         snprintf(directory, directory_bytes, "%s/lifeline", session) < (int)directory_bytes;
}

/* Another user may have created the default directory; then the session's directory is used, if there is one. */
bool ll_config_ring_dir(const char *option, char *directory, size_t directory_bytes) {
  const char *given = ring_dir_given(option);
  char standard[64];
  snprintf(standard, sizeof standard, "/dev/shm/lifeline-%u", (unsigned)geteuid());
  if (given == NULL && is_anothers(standard) && ll_config_session_ring_dir(option, directory, directory_bytes))
    return true;
  return make_absolute(given != NULL ? given : standard, directory, directory_bytes);
}

bool ll_config_spool_dir(const char *option, char *directory, size_t directory_bytes) {
  const char *given = text_of(option, "LIFELINE_SPOOL");
  *directory = '\0';
  return given == NULL || make_absolute(given, directory, directory_bytes);
}

static ll_clock_kind load_clock(loader *load, const char *option) {
  static const char *const names[] = {"auto", "tsc", "monotonic", NULL};
  unsigned wish = word_of(load, option, "LIFELINE_CLOCK", names);
  if (wish == 2 || (wish == 0 && !ll_cpu_clock_usable())) return LL_CLOCK_MONOTONIC;
  if (wish == 1 && !ll_cpu_clock_usable() && load->good) {
    snprintf(load->why, load->why_bytes,
             "LIFELINE_CLOCK=tsc: the rate of this CPU's counter is not constant, or the kernel does not trust it");
    load->good = false;
  }
  return LL_CLOCK_CPU;
}

static ll_policy load_policy(loader *load, ll_policy option) {
  static const char *const names[] = {"drop-newest", "block", NULL};
  if (option == LL_POLICY_DEFAULT) return (ll_policy)(LL_DROP_NEWEST + word_of(load, NULL, "LIFELINE_POLICY", names));
  if (option == LL_DROP_NEWEST || option == LL_BLOCK) return option;
  if (load->good) snprintf(load->why, load->why_bytes, "options.policy is %d, which is no ll_policy", (int)option);
  load->good = false;
  return LL_DROP_NEWEST;
}

static void load_activations(loader *load, ll_config *config, const ll_options *options) {
  ll_activation_settings *settings = &config->activations;
  settings->limits = (ll_activation_limits){
      .program = config->streams.program, .host = config->streams.host, .routes = &config->streams.routes};
  const char *resolution = text_of(options->resolution, "LIFELINE_RESOLUTION");
  const char *triggers = text_of(options->triggers, "LIFELINE_TRIGGERS");
  const char *never = text_of(options->never, "LIFELINE_NEVER"),
             *longest = text_of(options->max_for, "LIFELINE_MAX_FOR");
  if (resolution != NULL)
    copy_text(load, "LIFELINE_RESOLUTION", resolution, settings->resolution, sizeof settings->resolution);
  if (never != NULL) copy_text(load, "LIFELINE_NEVER", never, settings->never, sizeof settings->never);
  if (triggers != NULL && !make_absolute(triggers, settings->triggers, sizeof settings->triggers) && load->good) {
    snprintf(load->why, load->why_bytes, "LIFELINE_TRIGGERS is too long");
    load->good = false;
  }
  if (longest == NULL) longest = "1d";
  if (!ll_duration_parse(longest, strlen(longest), &settings->limits.for_most_ns) && load->good) {
    snprintf(load->why, load->why_bytes, "LIFELINE_MAX_FOR must be a duration like 90s, 10m or 1d, up to 365d");
    load->good = false;
  }
  number_of(load, options->max_rate, "LIFELINE_MAX_RATE", 0, 0, 1000000000, &settings->events_per_second);
}

static void load_spool(loader *load, ll_config *config, const ll_options *options) {
  static const char *const full_names[] = {"drop-oldest", "drop-newest", "block", NULL};
  static const char *const sync_names[] = {"interval", "never", "always", NULL};
  ll_spool_settings *spool = &config->streams.spool;
  number_of(load, options->spool_bytes, "LIFELINE_SPOOL_BYTES", UINT64_C(1) << 30, 2u << 20, UINT64_C(1) << 50,
            &spool->bytes);
  spool->full = (ll_spool_full)word_of(load, options->spool_full, "LIFELINE_SPOOL_FULL", full_names);
  spool->sync = (ll_spool_sync)word_of(load, options->spool_sync, "LIFELINE_SPOOL_SYNC", sync_names);
  if (ll_config_spool_dir(options->spool, spool->directory, sizeof spool->directory) || !load->good) return;
  snprintf(load->why, load->why_bytes, "LIFELINE_SPOOL is too long");
  load->good = false;
}

/* Members missing from the caller's structure default to zero. */
static ll_options known_options(const ll_options *options) {
  ll_options known = LL_OPTIONS_INIT;
  if (options != NULL) memcpy(&known, options, options->size < sizeof known ? options->size : sizeof known);
  return known;
}

bool ll_config_load(ll_config *config, const ll_options *given, char *why, size_t why_bytes) {
  static const char *const switch_names[] = {"on", "off", NULL};
  static const char *const compression_names[] = {"auto", "none", "lz4", "zstd", "compatible", NULL};
  loader load = {why, why_bytes, true};
  ll_options options = known_options(given);
  memset(config, 0, sizeof *config);
  if (given != NULL && given->size < offsetof(ll_options, url) + sizeof given->url) {
    snprintf(why, why_bytes, "ll_options has the size %zu: initialise it with LL_OPTIONS_INIT", given->size);
    return false;
  }

  const char *context = text_of(options.context, "LIFELINE_CONTEXT");
  load_session(config, context);
  const char *url = text_of(options.url, "LIFELINE_URL");
  config->on = word_of(&load, NULL, "LIFELINE", switch_names) == 0 && url != NULL;
  if (!config->on) return load.good;

  copy_text(&load, "LIFELINE_URL", url, config->streams.url, sizeof config->streams.url);
  load_routes(&load, config, text_of(options.routes, "LIFELINE_ROUTES"));
  load_activations(&load, config, &options);
  config->budget_bytes = bytes_of(&load, options.budget_bytes, "LIFELINE_BUDGET_BYTES", 64u << 20,
                                  ll_store_least_budget(config->streams.routes.count), 4ul << 30);
  config->memory_limit = ll_cgroup_memory_of(LL_CGROUP_MEMBERSHIP, LL_CGROUP_MOUNTS).limit;
  if (options.budget_bytes == 0 && text_of(NULL, "LIFELINE_BUDGET_BYTES") == NULL)
    config->budget_bytes =
        ll_store_budget_within(config->memory_limit, config->budget_bytes, config->streams.routes.count);
  config->streams.batch_bytes =
      bytes_of(&load, options.batch_bytes, "LIFELINE_BATCH_BYTES", 64u << 10, 4u << 10, 256u << 10);
  config->interval_ms = small_number_of(&load, options.interval_ms, "LIFELINE_INTERVAL_MS", 500, 1, 3600000);
  config->block_timeout_ms =
      small_number_of(&load, options.block_timeout_ms, "LIFELINE_BLOCK_TIMEOUT_MS", 1000, 1, 3600000);
  config->flush_timeout_ms =
      small_number_of(&load, options.flush_timeout_ms, "LIFELINE_FLUSH_TIMEOUT_MS", 5000, 0, 3600000);
  config->patient = options.flush_timeout_ms != 0 || text_of(NULL, "LIFELINE_FLUSH_TIMEOUT_MS") != NULL;
  config->policy = load_policy(&load, options.policy);
  config->clock = load_clock(&load, options.clock);

  config->streams.compression =
      compression_names[word_of(&load, options.compression, "LIFELINE_COMPRESSION", compression_names)];
  const char *program = text_of(options.program, "LIFELINE_PROGRAM");
  copy_text(&load, "LIFELINE_PROGRAM", program != NULL ? program : program_invocation_short_name,
            config->streams.program, sizeof config->streams.program);
  char machine[256] = "";
  gethostname(machine, sizeof machine - 1);
  const char *host = text_of(options.host, "LIFELINE_HOST");
  copy_text(&load, "LIFELINE_HOST", host != NULL ? host : machine, config->streams.host, sizeof config->streams.host);
  ll_make_utf8(config->streams.program);
  ll_make_utf8(config->streams.host);

  char *checked = context != NULL ? strdup(context) : NULL;
  if (checked != NULL) {
    ll_make_utf8(checked);
    load_context(&load, config, checked);
    free(checked);
  }
  put_trace(&load, config, context);
  if (!ll_config_ring_dir(options.ring_dir, config->ring_dir, sizeof config->ring_dir) && load.good) {
    snprintf(why, why_bytes, "LIFELINE_RING_DIR is too long");
    load.good = false;
  }
  if (!ll_config_session_ring_dir(options.ring_dir, config->session_ring_dir, sizeof config->session_ring_dir))
    config->session_ring_dir[0] = '\0';
  load_spool(&load, config, &options);
  return load.good;
}
