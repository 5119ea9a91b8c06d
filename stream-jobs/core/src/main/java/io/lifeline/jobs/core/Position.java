package io.lifeline.jobs.core;

/**
 * Position of a message on its broker.
 *
 * @param partition the Kafka partition; on JetStream always 0, since a stream has one order
 * @param offset the Kafka offset or the JetStream stream sequence
 * @param brokerTimeMs when the broker received the message, in milliseconds since the Unix epoch
 */
public record Position(int partition, long offset, long brokerTimeMs) {}
