/* The shipped sinks/permissions/nats.conf on a real nats-server: the emitter's permissions and prohibitions. A second
 * emitter uses the same file with its own prefix, as recommended for programs that do not trust each other. */
#include <nats/nats.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATIENCE_MS = 30000, HASTE_MS = 500 };

static char directory[] = "/tmp/lifeline-permissions-XXXXXX";
static pid_t server;
static char url[64];
static natsConnection *operator_connection, *emitter, *other;
static jsCtx *operator_js, *emitter_js, *other_js;
static jsCtx *hasty_js, *hasty_other_js; /* short timeout for forbidden requests, which are not answered */

static void write_configuration(const char *path) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(
      file,
      "listen: \"127.0.0.1:-1\"\nports_file_dir: \"%s\"\njetstream { store_dir: \"%s/data\", max_file_store: 64GB }\n"
      "authorization { users: [ { user: operator, password: o }\n"
      "{ user: emitter, password: e, include permissions.conf }\n"
      "{ user: other, password: t, include other.conf } ] }\n",
      directory, directory);
  assert_int_equal(fclose(file), 0);
}

/* The server writes the port that it chose into nats-server_<pid>.ports. */
static bool read_port(pid_t pid) {
  char path[128], text[256] = "";
  snprintf(path, sizeof path, "%s/nats-server_%d.ports", directory, (int)pid);
  FILE *file = fopen(path, "r");
  if (!file) return false;
  size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = 0;
  const char *found = strstr(text, "nats://");
  if (!found) return false;
  snprintf(url, sizeof url, "%.*s", (int)strcspn(found, "\""), found);
  return true;
}

/* Sets url. */
static pid_t run_server(const char *configuration) {
  *url = 0;
  pid_t pid = fork();
  if (pid == 0) {
    freopen("/dev/null", "w", stderr);
    execl(NATS_SERVER, "nats-server", "--config", configuration, (char *)NULL);
    _exit(127);
  }
  for (int i = 0; i < PATIENCE_MS / 50 && !read_port(pid); i++)
    usleep(50000);
  assert_true(*url);
  return pid;
}

static void ask_for_jetstream(natsConnection *connection, int64_t wait_ms, jsCtx **js) {
  jsOptions options;
  jsOptions_Init(&options);
  options.Wait = wait_ms;
  assert_int_equal(natsConnection_JetStream(js, connection, &options), NATS_OK);
}

static void connect_as(const char *user, const char *password, natsConnection **connection, jsCtx **js) {
  natsOptions *options = NULL;
  char prefix[64];
  natsOptions_Create(&options);
  natsOptions_SetURL(options, url);
  natsOptions_SetUserInfo(options, user, password);
  natsOptions_SetErrorHandler(options, NULL, NULL);
  snprintf(prefix, sizeof prefix, "_INBOX_%s", user);
  natsOptions_SetCustomInboxPrefix(options, prefix);
  assert_int_equal(natsConnection_Connect(connection, options), NATS_OK);
  ask_for_jetstream(*connection, PATIENCE_MS, js);
  natsOptions_Destroy(options);
}

static int start(void **state) {
  (void)state;
  char configuration[128], command[1024];
  assert_non_null(mkdtemp(directory));
  snprintf(command, sizeof command,
           "cp '" TEMPLATE
           "' %s/permissions.conf && sed 's/lifeline/other/g; s/_INBOX_emitter/_INBOX_other/' '" TEMPLATE
           "' >%s/other.conf",
           directory, directory);
  assert_int_equal(system(command), 0);
  snprintf(configuration, sizeof configuration, "%s/server.conf", directory);
  write_configuration(configuration);
  server = run_server(configuration);
  connect_as("operator", "o", &operator_connection, &operator_js);
  connect_as("emitter", "e", &emitter, &emitter_js);
  connect_as("other", "t", &other, &other_js);
  ask_for_jetstream(emitter, HASTE_MS, &hasty_js);
  ask_for_jetstream(other, HASTE_MS, &hasty_other_js);
  char setup[1024];
  const char *host = url + strlen("nats://");
  snprintf(setup, sizeof setup,
           "'" SETUP_TOOL "' --url nats://operator:o@%s >/dev/null && "
           "'" SETUP_TOOL "' --url 'nats://operator:o@%s/?stream=OTHER' --prefix other >/dev/null",
           host, host);
  assert_int_equal(system(setup), 0);
  return 0;
}

static int stop(void **state) {
  (void)state;
  jsCtx_Destroy(hasty_other_js);
  jsCtx_Destroy(hasty_js);
  jsCtx_Destroy(other_js);
  jsCtx_Destroy(emitter_js);
  jsCtx_Destroy(operator_js);
  natsConnection_Destroy(other);
  natsConnection_Destroy(emitter);
  natsConnection_Destroy(operator_connection);
  kill(server, SIGTERM);
  waitpid(server, NULL, 0);
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", directory);
  return system(command);
}

static bool stored(jsCtx *js, const char *subject) {
  jsPubAck *ack = NULL;
  natsStatus status = js_Publish(&ack, js, subject, "x", 1, NULL, NULL);
  jsPubAck_Destroy(ack);
  return status == NATS_OK;
}

static uint64_t messages_by(jsCtx *js, const char *stream) {
  jsStreamInfo *info = NULL;
  assert_int_equal(js_GetStreamInfo(&info, js, stream, NULL, NULL), NATS_OK);
  uint64_t messages = info->State.Msgs;
  jsStreamInfo_Destroy(info);
  return messages;
}

static uint64_t messages_in(const char *stream) {
  return messages_by(operator_js, stream);
}

static void an_emitter_publishes_batches(void **state) {
  (void)state;
  assert_true(stored(emitter_js, "lifeline.batches.7"));
}

static void an_emitter_reads_and_watches_activations(void **state) {
  (void)state;
  kvStore *writing = NULL, *reading = NULL;
  kvWatcher *watcher = NULL;
  kvEntry *entry = NULL;
  assert_int_equal(js_KeyValue(&writing, operator_js, "lifeline-activations"), NATS_OK);
  assert_int_equal(kvStore_PutString(NULL, writing, "a", "value"), NATS_OK);
  assert_int_equal(js_KeyValue(&reading, emitter_js, "lifeline-activations"), NATS_OK);
  assert_int_equal(kvStore_Get(&entry, reading, "a"), NATS_OK);
  assert_string_equal(kvEntry_ValueString(entry), "value");
  kvEntry_Destroy(entry);
  assert_int_equal(kvStore_WatchAll(&watcher, reading, NULL), NATS_OK);
  assert_int_equal(kvWatcher_Next(&entry, watcher, PATIENCE_MS), NATS_OK);
  assert_string_equal(kvEntry_Key(entry), "a");
  kvEntry_Destroy(entry);
  kvWatcher_Destroy(watcher);
  kvStore_Destroy(reading);
  kvStore_Destroy(writing);
}

static void an_emitter_does_not_write_control(void **state) {
  (void)state;
  uint64_t before = messages_in("KV_lifeline-activations");
  assert_false(stored(hasty_js, "$KV.lifeline-activations.a"));
  assert_false(stored(hasty_js, "$KV.lifeline-jobs.a"));
  assert_int_equal(messages_in("KV_lifeline-activations"), before);
  assert_int_equal(messages_in("KV_lifeline-jobs"), 0);
}

static void an_emitter_does_not_write_results(void **state) {
  (void)state;
  assert_false(stored(hasty_js, "lifeline.summaries"));
  assert_false(stored(hasty_js, "lifeline.ledger"));
  assert_false(stored(hasty_js, "lifeline.events.disk.read.end"));
  assert_int_equal(messages_in("LIFELINE_OUT"), 0);
}

static void an_emitter_does_not_manage_streams(void **state) {
  (void)state;
  assert_int_not_equal(js_PurgeStream(hasty_js, "LIFELINE", NULL, NULL), NATS_OK);
  assert_int_not_equal(js_DeleteStream(hasty_js, "LIFELINE", NULL, NULL), NATS_OK);
  assert_int_not_equal(js_DeleteStream(hasty_js, "KV_lifeline-activations", NULL, NULL), NATS_OK);
  assert_int_equal(messages_in("LIFELINE"), 1);
}

static void an_emitter_does_not_read_batches(void **state) {
  (void)state;
  natsSubscription *subscription = NULL;
  natsMsg *message = NULL;
  assert_int_equal(natsConnection_SubscribeSync(&subscription, emitter, "lifeline.batches.*"), NATS_OK);
  assert_true(stored(emitter_js, "lifeline.batches.7"));
  assert_int_not_equal(natsSubscription_NextMsg(&message, subscription, 300), NATS_OK);
  natsSubscription_Destroy(subscription);
  assert_int_not_equal(js_GetMsg(&message, hasty_js, "LIFELINE", 1, NULL, NULL), NATS_OK);
}

/* Answers to others, which hold batches and checkpoints, arrive in inboxes. */
static void an_emitter_does_not_read_what_others_are_answered(void **state) {
  (void)state;
  static const char *const others[] = {"_INBOX.>", "_INBOX_operator.>", "_INBOX_other.>", ">", "$JS.API.>"};
  natsSubscription *subscriptions[5];
  natsMsg *message = NULL;
  for (int i = 0; i < 5; i++)
    assert_int_equal(natsConnection_SubscribeSync(&subscriptions[i], emitter, others[i]), NATS_OK);
  assert_int_equal(natsConnection_FlushTimeout(emitter, PATIENCE_MS), NATS_OK);
  assert_true(stored(emitter_js, "lifeline.batches.7"));
  assert_true(stored(other_js, "other.batches.7"));
  assert_int_equal(js_GetLastMsg(&message, operator_js, "LIFELINE", "lifeline.batches.7", NULL, NULL), NATS_OK);
  natsMsg_Destroy(message);
  assert_int_equal(natsConnection_Publish(operator_connection, "_INBOX.somebody", "x", 1), NATS_OK);
  assert_int_equal(natsConnection_FlushTimeout(operator_connection, PATIENCE_MS), NATS_OK);
  assert_int_equal(natsConnection_FlushTimeout(emitter, PATIENCE_MS), NATS_OK); /* all were delivered before */
  for (int i = 0; i < 5; i++) {
    assert_int_not_equal(natsSubscription_NextMsg(&message, subscriptions[i], 20), NATS_OK);
    natsSubscription_Destroy(subscriptions[i]);
  }
}

/* Control, results, state, administration, answers to others, and the server itself. */
static const char *const forbidden[] = {
    "lifeline.batches",
    "lifeline.batches.1.2",
    "lifeline.derived.large.1",
    "lifeline.summaries",
    "lifeline.summaries.parts",
    "lifeline.ledger",
    "lifeline.rejected",
    "lifeline.alerts",
    "lifeline.events.disk.read.end",
    "other.batches.7",
    "$KV.lifeline-activations.a",
    "$KV.lifeline-jobs.summarise.lease",
    "$KV.other-activations.a",
    "_INBOX.a.b",
    "_INBOX_operator.a.b",
    "_INBOX_other.a.b",
    "$JS.API.INFO",
    "$JS.API.ACCOUNT.PURGE.$G",
    "$JS.API.STREAM.LIST",
    "$JS.API.STREAM.CREATE.MINE",
    "$JS.API.STREAM.UPDATE.LIFELINE",
    "$JS.API.STREAM.DELETE.LIFELINE",
    "$JS.API.STREAM.PURGE.LIFELINE",
    "$JS.API.STREAM.PURGE.KV_lifeline-activations",
    "$JS.API.STREAM.PURGE.KV_lifeline-jobs",
    "$JS.API.STREAM.INFO.LIFELINE",
    "$JS.API.STREAM.INFO.KV_lifeline-jobs",
    "$JS.API.STREAM.SNAPSHOT.LIFELINE",
    "$JS.API.STREAM.RESTORE.LIFELINE",
    "$JS.API.STREAM.MSG.GET.LIFELINE",
    "$JS.API.STREAM.MSG.GET.KV_lifeline-activations",
    "$JS.API.STREAM.MSG.DELETE.LIFELINE",
    "$JS.API.STREAM.MSG.DELETE.KV_lifeline-activations",
    "$JS.API.STREAM.LEADER.STEPDOWN.LIFELINE",
    "$JS.API.DIRECT.GET.LIFELINE",
    "$JS.API.DIRECT.GET.LIFELINE_OUT.lifeline.ledger",
    "$JS.API.DIRECT.GET.KV_lifeline-jobs.$KV.lifeline-jobs.a",
    "$JS.API.CONSUMER.CREATE.LIFELINE",
    "$JS.API.CONSUMER.CREATE.LIFELINE.mine.lifeline.batches.7",
    "$JS.API.CONSUMER.CREATE.KV_lifeline-jobs.mine",
    "$JS.API.CONSUMER.DURABLE.CREATE.LIFELINE.mine",
    "$JS.API.CONSUMER.DURABLE.CREATE.KV_lifeline-activations.mine",
    "$JS.API.CONSUMER.DELETE.LIFELINE.archive",
    "$JS.API.CONSUMER.LIST.KV_lifeline-activations",
    "$JS.API.CONSUMER.NAMES.LIFELINE",
    "$JS.API.CONSUMER.INFO.KV_lifeline-activations.a",
    "$JS.API.CONSUMER.MSG.NEXT.LIFELINE.archive",
    "$JS.API.CONSUMER.PAUSE.LIFELINE.archive",
    "$JS.ACK.LIFELINE.archive.1.1.1.1.0",
    "$JS.FC.LIFELINE.archive.a",
    "$SYS.REQ.ACCOUNT.PING.CONNZ",
    "$SYS.REQ.SERVER.PING",
};

static void what_an_emitter_publishes_elsewhere_reaches_nobody(void **state) {
  (void)state;
  natsSubscription *all = NULL;
  natsMsg *message = NULL;
  assert_int_equal(natsConnection_SubscribeSync(&all, operator_connection, ">"), NATS_OK);
  assert_int_equal(natsConnection_FlushTimeout(operator_connection, PATIENCE_MS), NATS_OK);
  for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
    assert_int_equal(natsConnection_PublishRequestString(emitter, forbidden[i], "_INBOX_emitter.a", "{}"), NATS_OK);
  assert_int_equal(natsConnection_PublishString(emitter, "lifeline.batches.7", "last"), NATS_OK);
  assert_int_equal(natsConnection_FlushTimeout(emitter, PATIENCE_MS), NATS_OK);
  for (bool last = false; !last;) {
    assert_int_equal(natsSubscription_NextMsg(&message, all, PATIENCE_MS), NATS_OK);
    last = strcmp(natsMsg_GetSubject(message), "lifeline.batches.7") == 0;
    if (!last && strncmp(natsMsg_GetSubject(message), "$JS.EVENT.", 10) != 0)
      fail_msg("an emitter reached %s", natsMsg_GetSubject(message));
    natsMsg_Destroy(message);
  }
  natsSubscription_Destroy(all);
}

static void emitters_with_prefixes_of_their_own_do_not_reach_each_other(void **state) {
  (void)state;
  uint64_t before = messages_in("LIFELINE");
  assert_true(stored(other_js, "other.batches.7"));
  assert_false(stored(hasty_other_js, "lifeline.batches.7"));
  assert_false(stored(hasty_js, "other.batches.7"));
  assert_int_equal(messages_in("LIFELINE"), before);
  assert_int_equal(messages_in("OTHER"), 1);
  kvStore *bucket = NULL;
  kvEntry *entry = NULL;
  assert_int_equal(js_KeyValue(&bucket, operator_js, "lifeline-activations"), NATS_OK);
  assert_int_equal(kvStore_PutString(NULL, bucket, "secret", "value"), NATS_OK);
  kvStore_Destroy(bucket);
  bucket = NULL;
  if (js_KeyValue(&bucket, hasty_other_js, "lifeline-activations") == NATS_OK)
    assert_int_not_equal(kvStore_Get(&entry, bucket, "secret"), NATS_OK);
  kvStore_Destroy(bucket);
}

/* The other template, on a server of its own. */
static void in_an_account_of_their_own_emitters_put_no_answer_elsewhere(void **state) {
  (void)state;
  char configuration[128], command[1024];
  snprintf(configuration, sizeof configuration, "%s/accounts.conf", directory);
  snprintf(
      command, sizeof command,
      "cd %s && { echo 'listen: \"127.0.0.1:-1\"' && echo 'ports_file_dir: \"%s\"' && echo 'jetstream { store_dir: "
      "\"%s/accounts\" }' && sed 's/PASSWORD-OF-LIFELINE/l/; s/PASSWORD-OF-EMITTER/e/' '" ACCOUNTS "'; } >%s",
      directory, directory, directory, configuration);
  assert_int_equal(system(command), 0);
  pid_t pid = run_server(configuration);
  natsConnection *operator= NULL, *one = NULL;
  jsCtx *operators_js = NULL, *ones_js = NULL;
  connect_as("lifeline", "l", &operator, & operators_js);
  connect_as("emitter", "e", &one, &ones_js);
  snprintf(command, sizeof command, "'" SETUP_TOOL "' --url nats://lifeline:l@%s >/dev/null", url + strlen("nats://"));
  assert_int_equal(system(command), 0);
  static const char *const answers[] = {"lifeline.alerts", "$KV.lifeline-jobs.a", "$KV.lifeline-activations.a"};
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
    assert_int_equal(natsConnection_PublishRequestString(one, "lifeline.batches.7", answers[i], "x"), NATS_OK);
    assert_int_equal(natsConnection_PublishRequestString(one, "$JS.API.STREAM.NAMES", answers[i], "{}"), NATS_OK);
  }
  assert_true(stored(ones_js, "lifeline.batches.7")); /* whose answer comes after the others */
  assert_int_equal(messages_by(operators_js, "LIFELINE"), 4);
  assert_int_equal(messages_by(operators_js, "LIFELINE_OUT"), 0);
  assert_int_equal(messages_by(operators_js, "KV_lifeline-jobs"), 0);
  assert_int_equal(messages_by(operators_js, "KV_lifeline-activations"), 0);
  jsCtx_Destroy(ones_js);
  jsCtx_Destroy(operators_js);
  natsConnection_Destroy(one);
  natsConnection_Destroy(operator);
  kill(pid, SIGTERM);
  waitpid(pid, NULL, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_emitter_publishes_batches),
      cmocka_unit_test(an_emitter_reads_and_watches_activations),
      cmocka_unit_test(an_emitter_does_not_write_control),
      cmocka_unit_test(an_emitter_does_not_write_results),
      cmocka_unit_test(an_emitter_does_not_manage_streams),
      cmocka_unit_test(an_emitter_does_not_read_batches),
      cmocka_unit_test(what_an_emitter_publishes_elsewhere_reaches_nobody),
      cmocka_unit_test(emitters_with_prefixes_of_their_own_do_not_reach_each_other),
      cmocka_unit_test(an_emitter_does_not_read_what_others_are_answered),
      cmocka_unit_test(in_an_account_of_their_own_emitters_put_no_answer_elsewhere),
  };
  return cmocka_run_group_tests_name("permissions nats", tests, start, stop);
}
