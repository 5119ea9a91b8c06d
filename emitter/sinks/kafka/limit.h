/* The topic's own bound on a message, asked of the broker. */
#ifndef LIFELINE_KAFKA_LIMIT_H
#define LIFELINE_KAFKA_LIMIT_H

#include <librdkafka/rdkafka.h>

/* Asks; the answer comes to the queue as RD_KAFKA_EVENT_DESCRIBECONFIGS_RESULT as soon as a broker is reached. */
void kafka_limit_ask(rd_kafka_t *client, const char *topic, rd_kafka_queue_t *queue);

/* max.message.bytes out of that event; 0 if the broker does not tell, as when the user may not describe the topic. */
size_t kafka_limit_read(rd_kafka_event_t *event);

#endif
