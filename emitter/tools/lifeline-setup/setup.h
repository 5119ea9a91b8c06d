/* The resources that lifeline-setup requests, and its report. */
#ifndef LIFELINE_SETUP_H
#define LIFELINE_SETUP_H

#include "broker.h"

typedef struct setup_wishes {
  tool_broker broker;
  const char *prefix; /* of subjects and topics: "lifeline" */
  bool check;         /* create nothing */
  int partitions;     /* Kafka; 0 if not given, like the next three */
  int replicas;
  long long retention_ms;
  long long max_bytes; /* of the batches; on NATS, results get a quarter */
  bool json;
} setup_wishes;

typedef enum setup_state { SETUP_OK, SETUP_CREATED, SETUP_MISSING, SETUP_DIFFERS, SETUP_FAILED } setup_state;

/* Reports one resource: "created stream LIFELINE". The detail says what differs or failed, and the remedy. */
__attribute__((format(printf, 4, 5))) void setup_report(setup_state state, const char *kind, const char *name,
                                                        const char *detail, ...);

/* Report every resource of the broker, or return false with one line in error if it cannot be queried. */
bool setup_nats(const setup_wishes *wishes, char *error, size_t error_bytes);
bool setup_kafka(const setup_wishes *wishes, char *error, size_t error_bytes);

#endif
