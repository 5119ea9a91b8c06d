/** The same events in several formats on Kafka Streams. */
package io.lifeline.jobs.bench.streams;
