/** The jobs on JetStream, beside a consumer that does nothing. */
package io.lifeline.jobs.bench.jetstream;
