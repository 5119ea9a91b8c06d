package io.lifeline.jobs.kafka;

import org.apache.kafka.streams.errors.StreamsException;

/** The batch topic does not hold what the jobs have read at their positions. */
final class TopicReplacedException extends StreamsException {
  private static final long serialVersionUID = 1;
  private static final String REMEDY = ": to start over, give the jobs another kafka.application.id";

  private TopicReplacedException(String message) {
    super(message + REMEDY);
  }

  static TopicReplacedException recreated(String topic, String before, String now) {
    return new TopicReplacedException("the topic " + topic + " was recreated (its id was " + before + " and is " + now
        + "), and the jobs' positions are those of the other one");
  }

  static TopicReplacedException truncated(int partition, long next, long offset) {
    return new TopicReplacedException("the jobs have read partition " + partition + " of the batch topic up to offset "
        + next + ", and the broker continues at offset " + offset + ": either the broker has lost its last messages"
        + " (power failure, restore from a backup, unclean leader election), or the topic was recreated. Restore its"
        + " data, or give up what it has lost");
  }
}
