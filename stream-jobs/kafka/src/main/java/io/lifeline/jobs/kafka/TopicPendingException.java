package io.lifeline.jobs.kafka;

import org.apache.kafka.streams.errors.StreamsException;

/** The broker has not made a result topic yet. The batch that needs it is read again. */
final class TopicPendingException extends StreamsException {
  private static final long serialVersionUID = 1;

  TopicPendingException(String topic, Throwable cause) {
    super("the broker has not made the topic " + topic + " yet", cause);
  }
}
