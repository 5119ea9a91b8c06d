package io.lifeline.jobs.kafka;

import org.apache.kafka.streams.errors.StreamsException;

/** The batch topic is not the one that the jobs' positions belong to. */
final class TopicReplacedException extends StreamsException {
  private static final long serialVersionUID = 1;

  TopicReplacedException(String topic, String before, String now) {
    super("the topic " + topic + " was recreated (its id was " + before + " and is " + now + "), and the jobs'"
        + " positions are those of the other one: to start over, give the jobs another kafka.application.id");
  }
}
