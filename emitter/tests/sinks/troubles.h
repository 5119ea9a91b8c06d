/* Groups of tests that share two brokers of one kind, in sequence: starting Kafka takes longer than most of the
 * tests. */
#ifndef LIFELINE_TEST_TROUBLES_H
#define LIFELINE_TEST_TROUBLES_H

#include <stdbool.h>

#include "broker.h"

extern const char *scheme;
extern broker plain, guarded; /* guarded: TLS and users; on Kafka with ACLs */

bool is_nats(void);

/* Return the number of failed tests. doctor_tests must run first, on newly started brokers; they leave the brokers set
 * up and running. */
int doctor_tests(void);
int fault_tests(void);

#endif
