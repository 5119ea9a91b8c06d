/** The jobs on JetStream, compared with a consumer that only counts. */
package io.lifeline.jobs.bench.jetstream;
