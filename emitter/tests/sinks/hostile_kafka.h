/* A hostile neighbour on Kafka: with an emitter's account it tries all that SECURITY.md forbids an emitter. */
#ifndef LIFELINE_TEST_HOSTILE_KAFKA_H
#define LIFELINE_TEST_HOSTILE_KAFKA_H

#include "broker.h"

/* The emitter has the shipped permissions for the topics of lifeline-setup; there are also those of --prefix team.
 * Fails the test with all tries that succeeded. */
void hostile_neighbour(const broker *b);

#endif
