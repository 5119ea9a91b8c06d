#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "setup.h"

enum {
  DEFAULT_RETENTION_DAYS = 7,
  MAX_MESSAGE_BYTES = 1000000,   /* largest batch with its headers */
  BATCH_DUPLICATES_SECONDS = 60, /* keeps most repeated batches out of the stream; readers drop the others */
  OUTPUT_DUPLICATES_SECONDS = 120,
};

#define DEFAULT_MAX_BYTES (8LL << 30)
#define SECOND_NS 1000000000LL

static bool holds_subject(const jsStreamConfig *config, const char *subject) {
  for (int i = 0; i < config->SubjectsLen; i++)
    if (strcmp(config->Subjects[i], subject) == 0) return true;
  return false;
}

/* Writes the first mismatch into differs, or "". */
static void compare(const jsStreamConfig *found, const jsStreamConfig *wanted, const setup_wishes *wishes,
                    char *differs, size_t bytes) {
  *differs = 0;
  for (int i = 0; i < wanted->SubjectsLen; i++)
    if (!holds_subject(found, wanted->Subjects[i])) {
      snprintf(differs, bytes, "it lacks the subject %s", wanted->Subjects[i]);
      return;
    }
  if (found->Retention != js_LimitsPolicy)
    snprintf(differs, bytes, "its retention is not `limits`: reading would remove messages");
  else if (found->MaxMsgSize >= 0 && found->MaxMsgSize < MAX_MESSAGE_BYTES)
    snprintf(differs, bytes, "its messages are limited to %d bytes; %d are needed", found->MaxMsgSize,
             MAX_MESSAGE_BYTES);
  else if (wishes->retention_ms && found->MaxAge != wanted->MaxAge)
    snprintf(differs, bytes, "it keeps messages for %lld s, not %lld s", (long long)(found->MaxAge / SECOND_NS),
             (long long)(wanted->MaxAge / SECOND_NS));
  else if (wishes->max_bytes && found->MaxBytes != wanted->MaxBytes)
    snprintf(differs, bytes, "it keeps %lld bytes, not %lld", (long long)found->MaxBytes, (long long)wanted->MaxBytes);
  else if (wishes->replicas && found->Replicas != wanted->Replicas)
    snprintf(differs, bytes, "it has %d replicas, not %d", (int)found->Replicas, (int)wanted->Replicas);
}

static void create_stream(jsCtx *js, jsStreamConfig *wanted) {
  jsErrCode code = 0;
  natsStatus status = js_AddStream(NULL, js, wanted, NULL, &code);
  if (status == NATS_OK)
    setup_report(SETUP_CREATED, "stream", wanted->Name, "%s", "");
  else
    setup_report(SETUP_FAILED, "stream", wanted->Name, "%s (error %d)%s", tool_nats_error(status), (int)code,
                 code == JSInsufficientResourcesErr || code == JSStorageResourcesExceededErr
                     ? "; give a smaller --max-bytes"
                     : "");
}

static void setup_stream(jsCtx *js, const setup_wishes *wishes, jsStreamConfig *wanted) {
  jsStreamInfo *info = NULL;
  jsErrCode code = 0;
  natsStatus status = js_GetStreamInfo(&info, js, wanted->Name, NULL, &code);
  if (status == NATS_OK) {
    char differs[256];
    compare(info->Config, wanted, wishes, differs, sizeof differs);
    setup_report(*differs ? SETUP_DIFFERS : SETUP_OK, "stream", wanted->Name, "%s%s", differs,
                 *differs ? "; change it with `nats stream edit`, or choose another name with stream= in the URL" : "");
  } else if (status != NATS_NOT_FOUND) {
    setup_report(SETUP_FAILED, "stream", wanted->Name, "%s", tool_nats_error(status));
  } else if (wishes->check) {
    setup_report(SETUP_MISSING, "stream", wanted->Name, "run lifeline-setup without --check");
  } else {
    create_stream(js, wanted);
  }
  jsStreamInfo_Destroy(info);
}

static void setup_bucket(jsCtx *js, const setup_wishes *wishes, const char *name) {
  kvStore *store = NULL;
  kvConfig config;
  kvConfig_Init(&config);
  config.Bucket = name;
  config.History = 1;
  config.Replicas = wishes->replicas ? wishes->replicas : 1;
  natsStatus status = js_KeyValue(&store, js, name);
  if (status == NATS_OK) {
    setup_report(SETUP_OK, "bucket", name, "%s", "");
  } else if (status != NATS_NOT_FOUND) {
    setup_report(SETUP_FAILED, "bucket", name, "%s", tool_nats_error(status));
  } else if (wishes->check) {
    setup_report(SETUP_MISSING, "bucket", name, "run lifeline-setup without --check");
  } else if ((status = js_CreateKeyValue(&store, js, &config)) == NATS_OK) {
    setup_report(SETUP_CREATED, "bucket", name, "%s", "");
  } else {
    setup_report(SETUP_FAILED, "bucket", name, "%s", tool_nats_error(status));
  }
  kvStore_Destroy(store);
}

static void set_limits(jsStreamConfig *config, const setup_wishes *wishes, long long max_bytes) {
  config->Retention = js_LimitsPolicy;
  config->Storage = js_FileStorage;
  config->Discard = js_DiscardOld;
  config->MaxAge = wishes->retention_ms ? wishes->retention_ms * 1000000 : DEFAULT_RETENTION_DAYS * 86400 * SECOND_NS;
  config->MaxBytes = max_bytes;
  config->Replicas = wishes->replicas ? wishes->replicas : 1;
}

/* Subjects published by the jobs, after the prefix. */
static const char *const outputs[] = {"events.>", "derived.>", "summaries", "rejected", "ledger", "alerts", "partials"};
enum { OUTPUTS = sizeof outputs / sizeof *outputs };

static void setup_streams(jsCtx *js, const setup_wishes *wishes) {
  const char *stream = sink_url_parameter(&wishes->broker.url, "stream");
  const char *batches = *wishes->broker.url.name ? wishes->broker.url.name : NULL;
  long long max_bytes = wishes->max_bytes ? wishes->max_bytes : DEFAULT_MAX_BYTES;
  char name[256], out_name[256], subjects[1 + OUTPUTS][256];
  snprintf(name, sizeof name, "%s", stream ? stream : NATS_DEFAULT_STREAM);
  snprintf(out_name, sizeof out_name, "%s_OUT", stream ? stream : NATS_DEFAULT_STREAM);
  snprintf(subjects[0], sizeof *subjects, "%s%s.*", batches ? batches : wishes->prefix, batches ? "" : ".batches");
  const char *pointers[1 + OUTPUTS] = {subjects[0]};
  for (int i = 1; i <= OUTPUTS; i++) {
    snprintf(subjects[i], sizeof *subjects, "%s.%s", wishes->prefix, outputs[i - 1]);
    pointers[i] = subjects[i];
  }

  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  config.Name = name;
  config.Subjects = pointers;
  config.SubjectsLen = 1;
  config.MaxMsgSize = MAX_MESSAGE_BYTES;
  config.Duplicates = BATCH_DUPLICATES_SECONDS * SECOND_NS;
  set_limits(&config, wishes, max_bytes);
  setup_stream(js, wishes, &config);

  jsStreamConfig_Init(&config);
  config.Name = out_name;
  config.Subjects = pointers + 1;
  config.SubjectsLen = OUTPUTS;
  config.Duplicates = OUTPUT_DUPLICATES_SECONDS * SECOND_NS;
  set_limits(&config, wishes, max_bytes / 4);
  setup_stream(js, wishes, &config);
}

static void setup_buckets(jsCtx *js, const setup_wishes *wishes) {
  static const char *const buckets[] = {"activations", "jobs"};
  for (int i = 0; i < 2; i++) {
    char name[256];
    snprintf(name, sizeof name, "%s-%s", wishes->prefix, buckets[i]);
    for (char *c = name; *c; c++)
      if (*c == '.') /* not allowed in bucket names */
        *c = '_';
    setup_bucket(js, wishes, name);
  }
}

static bool has_jetstream(jsCtx *js, const setup_wishes *wishes, char *error, size_t error_bytes) {
  jsAccountInfo *info = NULL;
  jsErrCode code = 0;
  natsStatus status = js_GetAccountInfo(&info, js, NULL, &code);
  jsAccountInfo_Destroy(info);
  if (status == NATS_OK) return true;
  snprintf(error, error_bytes, "nats: JetStream on %s does not answer: %s", wishes->broker.url.hosts,
           status == NATS_NO_RESPONDERS ? "it is not enabled (`jetstream {}` in the server's configuration)"
           : status == NATS_TIMEOUT     ? "this user may not use it"
                                        : tool_nats_error(status));
  return false;
}

bool setup_nats(const setup_wishes *wishes, char *error, size_t error_bytes) {
  tool_nats nats;
  if (!tool_nats_open(&nats, &wishes->broker, "lifeline-setup", error, error_bytes)) return false;
  bool asked = has_jetstream(nats.js, wishes, error, error_bytes);
  if (asked) {
    setup_streams(nats.js, wishes);
    setup_buckets(nats.js, wishes);
  }
  tool_nats_close(&nats);
  nats_Close();
  return asked;
}
