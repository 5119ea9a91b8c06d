#include "hostile_kafka.h"

#include <librdkafka/rdkafka.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "acl.h"

enum { TIMEOUT_MS = 60000 };

static rd_kafka_t *producer, *reader, *member; /* the last one says that it belongs to the jobs */
static char succeeded[4096];

static bool is_refusal(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED || code == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED ||
         code == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED ||
         code == RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED ||
         code == RD_KAFKA_RESP_ERR__NOENT; /* the topic is not shown, and so has no leader to ask */
}

static void judge(const char *what, const char *of, rd_kafka_resp_err_t code) {
  size_t used = strlen(succeeded);
  if (!is_refusal(code))
    snprintf(succeeded + used, sizeof succeeded - used, "%s %s: %s\n", what, of, rd_kafka_err2name(code));
}

/* --- records --- */

static rd_kafka_resp_err_t write_to(rd_kafka_t *client, const char *topic) {
  assert_int_equal(rd_kafka_producev(client, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(0), RD_KAFKA_V_KEY("k", 1),
                                     RD_KAFKA_V_VALUE("x", 1), RD_KAFKA_V_END),
                   RD_KAFKA_RESP_ERR_NO_ERROR);
  rd_kafka_queue_t *queue = rd_kafka_queue_get_main(client);
  rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR__IN_PROGRESS;
  while (code == RD_KAFKA_RESP_ERR__IN_PROGRESS) {
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, TIMEOUT_MS);
    assert_non_null(event);
    if (rd_kafka_event_type(event) == RD_KAFKA_EVENT_DR) code = rd_kafka_event_message_next(event)->err;
    rd_kafka_event_destroy(event);
  }
  rd_kafka_queue_destroy(queue);
  return code;
}

/* Outcome of reading a record, which each topic has. Topics that may not be read are mostly not even shown. */
static rd_kafka_resp_err_t read_from(const char *topic) {
  const struct rd_kafka_metadata *shown;
  rd_kafka_topic_t *handle = rd_kafka_topic_new(reader, topic, NULL);
  assert_int_equal(rd_kafka_metadata(reader, 0, handle, &shown, TIMEOUT_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
  rd_kafka_resp_err_t code = shown->topics[0].err;
  rd_kafka_metadata_destroy(shown);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
    assert_int_equal(rd_kafka_consume_start(handle, 0, RD_KAFKA_OFFSET_BEGINNING), 0);
    rd_kafka_message_t *message = rd_kafka_consume(handle, 0, TIMEOUT_MS);
    assert_non_null(message);
    code = message->err;
    rd_kafka_message_destroy(message);
    rd_kafka_consume_stop(handle, 0);
  }
  rd_kafka_topic_destroy(handle);
  return code;
}

static rd_kafka_resp_err_t join(const char *topic) {
  rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, topic, RD_KAFKA_PARTITION_UA);
  assert_int_equal(rd_kafka_subscribe(member, list), RD_KAFKA_RESP_ERR_NO_ERROR);
  rd_kafka_topic_partition_list_destroy(list);
  rd_kafka_message_t *message = rd_kafka_consumer_poll(member, TIMEOUT_MS);
  assert_non_null(message);
  rd_kafka_resp_err_t code = message->err;
  rd_kafka_message_destroy(message);
  rd_kafka_unsubscribe(member);
  return code;
}

static rd_kafka_resp_err_t fence_off(const broker *b, const char *transactional_id) {
  rd_kafka_t *client = acl_connect(b, b->emitter, b->emitter_password_file, RD_KAFKA_PRODUCER,
                                   (const char *const[]){"transactional.id", transactional_id, NULL});
  rd_kafka_error_t *error = rd_kafka_init_transactions(client, TIMEOUT_MS);
  rd_kafka_resp_err_t code = rd_kafka_error_code(error);
  if (error) rd_kafka_error_destroy(error);
  rd_kafka_destroy(client);
  return code;
}

/* --- administration --- */

/* The request's error, or that of its first result. */
static rd_kafka_resp_err_t answer(rd_kafka_queue_t *queue) {
  rd_kafka_event_t *event = rd_kafka_queue_poll(queue, TIMEOUT_MS);
  assert_non_null(event);
  rd_kafka_resp_err_t code = rd_kafka_event_error(event);
  size_t count = 0;
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) switch (rd_kafka_event_type(event)) {
    case RD_KAFKA_EVENT_CREATETOPICS_RESULT:
      code = rd_kafka_topic_result_error(
          rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count)[0]);
      break;
    case RD_KAFKA_EVENT_DELETETOPICS_RESULT:
      code = rd_kafka_topic_result_error(
          rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count)[0]);
      break;
    case RD_KAFKA_EVENT_CREATEPARTITIONS_RESULT:
      code = rd_kafka_topic_result_error(
          rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(event), &count)[0]);
      break;
    case RD_KAFKA_EVENT_DELETERECORDS_RESULT:
      code = rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event))->elems[0].err;
      break;
    case RD_KAFKA_EVENT_ALTERCONFIGS_RESULT:
      code = rd_kafka_ConfigResource_error(
          rd_kafka_AlterConfigs_result_resources(rd_kafka_event_AlterConfigs_result(event), &count)[0]);
      break;
    case RD_KAFKA_EVENT_DESCRIBECONFIGS_RESULT:
      code = rd_kafka_ConfigResource_error(
          rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event), &count)[0]);
      break;
    case RD_KAFKA_EVENT_DELETEGROUPS_RESULT:
      code = rd_kafka_error_code(rd_kafka_group_result_error(
          rd_kafka_DeleteGroups_result_groups(rd_kafka_event_DeleteGroups_result(event), &count)[0]));
      break;
    case RD_KAFKA_EVENT_ALTERCONSUMERGROUPOFFSETS_RESULT:
      code = rd_kafka_error_code(rd_kafka_group_result_error(rd_kafka_AlterConsumerGroupOffsets_result_groups(
          rd_kafka_event_AlterConsumerGroupOffsets_result(event), &count)[0]));
      break;
    case RD_KAFKA_EVENT_DESCRIBECONSUMERGROUPS_RESULT:
      code = rd_kafka_error_code(rd_kafka_ConsumerGroupDescription_error(rd_kafka_DescribeConsumerGroups_result_groups(
          rd_kafka_event_DescribeConsumerGroups_result(event), &count)[0]));
      break;
    case RD_KAFKA_EVENT_CREATEACLS_RESULT:
      code = rd_kafka_error_code(rd_kafka_acl_result_error(
          rd_kafka_CreateAcls_result_acls(rd_kafka_event_CreateAcls_result(event), &count)[0]));
      break;
    case RD_KAFKA_EVENT_DELETEACLS_RESULT:
      code = rd_kafka_error_code(rd_kafka_DeleteAcls_result_response_error(
          rd_kafka_DeleteAcls_result_responses(rd_kafka_event_DeleteAcls_result(event), &count)[0]));
      break;
    case RD_KAFKA_EVENT_DESCRIBEACLS_RESULT: /* librdkafka 2.0 does not pass the refusal on: nothing is shown */
      rd_kafka_DescribeAcls_result_acls(rd_kafka_event_DescribeAcls_result(event), &count);
      if (count == 0) code = RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED;
      break;
    default: break;
    }
  rd_kafka_event_destroy(event);
  return code;
}

typedef enum action {
  CREATE,
  DELETE,
  DIVIDE,
  EMPTY,
  CONFIGURE,
  CONFIGURE_BROKER,
  READ_BROKER,
  END_GROUP,
  MOVE_GROUP,
  LOOK_AT_GROUP,
  GRANT,
  REVOKE,
  READ_RIGHTS
} action;

static void ask_of_topic(action what, const char *topic, rd_kafka_queue_t *queue) {
  if (what == CREATE) {
    rd_kafka_NewTopic_t *wanted = rd_kafka_NewTopic_new(topic, 1, 1, NULL, 0);
    rd_kafka_CreateTopics(producer, &wanted, 1, NULL, queue);
    rd_kafka_NewTopic_destroy(wanted);
  } else if (what == DELETE) {
    rd_kafka_DeleteTopic_t *unwanted = rd_kafka_DeleteTopic_new(topic);
    rd_kafka_DeleteTopics(producer, &unwanted, 1, NULL, queue);
    rd_kafka_DeleteTopic_destroy(unwanted);
  } else if (what == DIVIDE) {
    rd_kafka_NewPartitions_t *more = rd_kafka_NewPartitions_new(topic, 64, NULL, 0);
    rd_kafka_CreatePartitions(producer, &more, 1, NULL, queue);
    rd_kafka_NewPartitions_destroy(more);
  } else {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, 0)->offset = RD_KAFKA_OFFSET_END;
    rd_kafka_DeleteRecords_t *records = rd_kafka_DeleteRecords_new(list);
    rd_kafka_DeleteRecords(producer, &records, 1, NULL, queue);
    rd_kafka_DeleteRecords_destroy(records);
    rd_kafka_topic_partition_list_destroy(list);
  }
}

static void ask_of_settings(action what, const char *of, rd_kafka_queue_t *queue) {
  rd_kafka_ConfigResource_t *resource =
      rd_kafka_ConfigResource_new(what == CONFIGURE ? RD_KAFKA_RESOURCE_TOPIC : RD_KAFKA_RESOURCE_BROKER, of);
  if (what == READ_BROKER) {
    rd_kafka_DescribeConfigs(producer, &resource, 1, NULL, queue);
  } else {
    rd_kafka_ConfigResource_set_config(resource, what == CONFIGURE ? "retention.ms" : "log.retention.ms", "1");
    rd_kafka_AlterConfigs(producer, &resource, 1, NULL, queue);
  }
  rd_kafka_ConfigResource_destroy(resource);
}

static void ask_of_group(action what, const char *group, rd_kafka_queue_t *queue) {
  if (what == LOOK_AT_GROUP) {
    rd_kafka_DescribeConsumerGroups(producer, &group, 1, NULL, queue);
  } else if (what == MOVE_GROUP) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, "lifeline.batches", 0)->offset = 1;
    rd_kafka_AlterConsumerGroupOffsets_t *offsets = rd_kafka_AlterConsumerGroupOffsets_new(group, list);
    rd_kafka_AlterConsumerGroupOffsets(producer, &offsets, 1, NULL, queue);
    rd_kafka_AlterConsumerGroupOffsets_destroy(offsets);
    rd_kafka_topic_partition_list_destroy(list);
  } else {
    rd_kafka_DeleteGroup_t *unwanted = rd_kafka_DeleteGroup_new(group);
    rd_kafka_DeleteGroups(producer, &unwanted, 1, NULL, queue);
    rd_kafka_DeleteGroup_destroy(unwanted);
  }
}

static void ask_of_rights(action what, const char *topic, rd_kafka_queue_t *queue) {
  char error[256];
  rd_kafka_AclBinding_t *binding = (what == GRANT ? rd_kafka_AclBinding_new : rd_kafka_AclBindingFilter_new)(
      RD_KAFKA_RESOURCE_TOPIC, topic, RD_KAFKA_RESOURCE_PATTERN_LITERAL, "User:emitter", "*",
      what == GRANT ? RD_KAFKA_ACL_OPERATION_ALL : RD_KAFKA_ACL_OPERATION_ANY, RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW,
      error, sizeof error);
  assert_non_null(binding);
  if (what == READ_RIGHTS)
    rd_kafka_DescribeAcls(producer, binding, NULL, queue);
  else
    (what == GRANT ? rd_kafka_CreateAcls : rd_kafka_DeleteAcls)(producer, &binding, 1, NULL, queue);
  rd_kafka_AclBinding_destroy(binding);
}

static rd_kafka_resp_err_t ask(action what, const char *of) {
  rd_kafka_queue_t *queue = rd_kafka_queue_new(producer);
  if (what <= EMPTY)
    ask_of_topic(what, of, queue);
  else if (what <= READ_BROKER)
    ask_of_settings(what, of, queue);
  else if (what <= LOOK_AT_GROUP)
    ask_of_group(what, of, queue);
  else
    ask_of_rights(what, of, queue);
  rd_kafka_resp_err_t code = answer(queue);
  rd_kafka_queue_destroy(queue);
  return code;
}

/* --- the tries --- */

/* Of jobs that run on this broker: their state, and what they hand on. */
#define STATE "lifeline-jobs-lifeline-intake-changelog"
#define PARTS "lifeline-jobs-lifeline-partials-repartition"

static const char *const others_topics[] = {
    "lifeline.summaries", "lifeline.ledger",  "lifeline.rejected", "lifeline.alerts",    STATE, PARTS,
    "team.batches",       "team.activations", "team.summaries",    "__consumer_offsets",
};
enum { OTHERS_TOPICS = sizeof others_topics / sizeof *others_topics };

static const struct {
  const char *name;
  action what;
  const char *of;
} requests[] = {
    {"create", CREATE, "lifeline.events.disk.read.end"},
    {"create", CREATE, "lifeline.batches2"},
    {"delete", DELETE, "lifeline.batches"},
    {"delete", DELETE, "lifeline.activations"},
    {"delete", DELETE, "lifeline.summaries"},
    {"delete", DELETE, STATE},
    {"divide", DIVIDE, "lifeline.batches"},
    {"divide", DIVIDE, "lifeline.activations"},
    {"empty", EMPTY, "lifeline.batches"},
    {"empty", EMPTY, "lifeline.activations"},
    {"empty", EMPTY, "lifeline.summaries"},
    {"configure", CONFIGURE, "lifeline.batches"},
    {"configure", CONFIGURE, "lifeline.activations"},
    {"configure broker", CONFIGURE_BROKER, "1"},
    {"read the settings of broker", READ_BROKER, "1"},
    {"end group", END_GROUP, "lifeline-jobs"},
    {"move group", MOVE_GROUP, "lifeline-jobs"},
    {"look at group", LOOK_AT_GROUP, "lifeline-jobs"},
    {"grant itself", GRANT, "lifeline.summaries"},
    {"revoke rights to", REVOKE, "lifeline.batches"},
    {"read rights to", READ_RIGHTS, "lifeline.batches"},
};

/* Offset 1 is what an operator wrote; nothing more, and nothing less, may be there at the end. */
static void with_the_operator(const broker *b, void (*each)(rd_kafka_t *operator, const char * topic)) {
  rd_kafka_t *operator= acl_connect(b, b->user, b->password_file, RD_KAFKA_PRODUCER, NULL);
  for (int i = 0; i < OTHERS_TOPICS - 1; i++) /* without __consumer_offsets */
    each(operator, others_topics[i]);
  each(operator, "lifeline.activations");
  rd_kafka_destroy(operator);
}

static void write_one(rd_kafka_t *operator, const char * topic) {
  rd_kafka_queue_t *queue = rd_kafka_queue_new(operator);
  rd_kafka_NewTopic_t *wanted = rd_kafka_NewTopic_new(topic, 1, 1, NULL, 0); /* STATE and PARTS are not there yet */
  rd_kafka_CreateTopics(operator, & wanted, 1, NULL, queue);
  answer(queue);
  rd_kafka_NewTopic_destroy(wanted);
  rd_kafka_queue_destroy(queue);
  assert_int_equal(write_to(operator, topic), RD_KAFKA_RESP_ERR_NO_ERROR);
}

static void look_for_one(rd_kafka_t *operator, const char * topic) {
  int64_t low, high;
  assert_int_equal(rd_kafka_query_watermark_offsets(operator, topic, 0, &low, &high, TIMEOUT_MS),
                   RD_KAFKA_RESP_ERR_NO_ERROR);
  if (low != 0 || high != 1) fail_msg("%s has the offsets %lld to %lld", topic, (long long)low, (long long)high);
}

void hostile_neighbour(const broker *b) {
  *succeeded = 0;
  with_the_operator(b, write_one);
  producer = acl_connect(b, b->emitter, b->emitter_password_file, RD_KAFKA_PRODUCER,
                         (const char *const[]){"topic.metadata.propagation.max.ms", "0", NULL});
  reader = acl_connect(b, b->emitter, b->emitter_password_file, RD_KAFKA_CONSUMER, NULL);
  member = acl_connect(b, b->emitter, b->emitter_password_file, RD_KAFKA_CONSUMER,
                       (const char *const[]){"group.id", "lifeline-jobs", NULL});
  assert_int_equal(write_to(producer, "lifeline.batches"), RD_KAFKA_RESP_ERR_NO_ERROR);
  assert_int_equal(read_from("lifeline.activations"), RD_KAFKA_RESP_ERR_NO_ERROR);
  judge("write", "lifeline.activations", write_to(producer, "lifeline.activations"));
  judge("read", "lifeline.batches", read_from("lifeline.batches"));
  for (int i = 0; i < OTHERS_TOPICS; i++) {
    judge("write", others_topics[i], write_to(producer, others_topics[i]));
    judge("read", others_topics[i], read_from(others_topics[i]));
  }
  judge("join the jobs to read", "lifeline.activations", join("lifeline.activations"));
  judge("be the transaction", "lifeline-jobs-0", fence_off(b, "lifeline-jobs-0"));
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
    judge(requests[i].name, requests[i].of, ask(requests[i].what, requests[i].of));
  rd_kafka_destroy(member);
  rd_kafka_destroy(reader);
  rd_kafka_destroy(producer);
  with_the_operator(b, look_for_one);
  if (*succeeded) fail_msg("an emitter could:\n%s", succeeded);
}
