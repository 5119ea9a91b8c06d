/* The sink's threads and those of its librdkafka clients. Clients are counted, since the program may have its own. */
#ifndef LIFELINE_KAFKA_CLIENTS_H
#define LIFELINE_KAFKA_CLIENTS_H

#include <stdint.h>

void kafka_client_begins(void);
void kafka_client_ends(void);
void kafka_threads_renew(void);
uint32_t kafka_threads(void);

#endif
