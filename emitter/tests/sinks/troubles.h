/* Groups of tests that share two brokers of one kind, one after the other: starting a Kafka costs more than most of
 * the tests. */
#ifndef LIFELINE_TEST_TROUBLES_H
#define LIFELINE_TEST_TROUBLES_H

#include <stdbool.h>

#include "broker.h"

extern const char *scheme;
extern broker plain, guarded; /* guarded: TLS and users; on Kafka with ACLs */

bool is_nats(void);

/* Each returns how many failed. The first finds the brokers as they start; they leave them set up and running. */
int doctor_tests(void);
int fault_tests(void);

#endif
