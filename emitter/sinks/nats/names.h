/* Default names on NATS; the URL overrides them. */
#ifndef LIFELINE_NATS_NAMES_H
#define LIFELINE_NATS_NAMES_H

#define NATS_DEFAULT_PORT "4222"
#define NATS_DEFAULT_STREAM "LIFELINE"
#define NATS_DEFAULT_PREFIX "lifeline.batches"
#define NATS_DEFAULT_CONTROL "lifeline-activations"

#endif
