/* The topic's limit of the message size, requested from the broker. */
#ifndef LIFELINE_KAFKA_LIMIT_H
#define LIFELINE_KAFKA_LIMIT_H

#include <librdkafka/rdkafka.h>

/* Sends the request. The queue gets a RD_KAFKA_EVENT_DESCRIBECONFIGS_RESULT when a broker is reached. */
void kafka_limit_ask(rd_kafka_t *client, const char *topic, rd_kafka_queue_t *queue);

/* max.message.bytes from that event, or segment.bytes if that is less; 0 if it is missing, for instance if the user may
 * not describe the topic. */
size_t kafka_limit_read(rd_kafka_event_t *event);

#endif
