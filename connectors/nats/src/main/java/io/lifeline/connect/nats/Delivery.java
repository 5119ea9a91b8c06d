package io.lifeline.connect.nats;

/**
 * Metadata of a delivered message, from its reply subject: {@code
 * $JS.ACK.[<domain>.<account>.]<stream>.<consumer>.<deliveries>.<stream sequence>.<consumer
 * sequence>.<time>.<pending>}.
 *
 * <p>Parsed in one pass from the end: the client's parser splits the whole text and builds a date for every message.
 *
 * @param reply the subject, in which the consumer's name lies from {@code consumerAt} to {@code consumerEnd}
 * @param streamSequence the message's number in the stream
 * @param consumerSequence its number among those that this consumer was sent
 * @param timeNs when the stream took it, since 1970
 * @param pending how many messages the consumer has still to be sent
 */
record Delivery(
    String reply,
    int consumerAt,
    int consumerEnd,
    long streamSequence,
    long consumerSequence,
    long timeNs,
    long pending) {

  private static final String PREFIX = "$JS.ACK.";

  /** Of the tokens from the end on, those that are numbers. */
  private static final int NUMBERS = 5;

  private static final int PENDING = 0;
  private static final int TIME = 1;
  private static final int CONSUMER_SEQUENCE = 2;
  private static final int STREAM_SEQUENCE = 3;

  /**
   * Reads a reply subject.
   *
   * @return null if it is none of a stream's
   */
  static Delivery parse(String reply) {
    if (reply == null || !reply.startsWith(PREFIX)) {
      return null;
    }
    long pending = 0;
    long timeNs = 0;
    long consumerSequence = 0;
    long streamSequence = 0;
    int at = reply.length();
    for (int token = 0; token < NUMBERS; token++) {
      long number = 0;
      long unit = 1;
      for (char c = reply.charAt(--at); c != '.'; c = reply.charAt(--at)) { // the prefix ends it, if nothing else
        if (c < '0' || c > '9') {
          return null;
        }
        number += (c - '0') * unit;
        unit *= 10;
      }
      if (unit == 1) {
        return null;
      }
      switch (token) {
        case PENDING -> pending = number;
        case TIME -> timeNs = number;
        case CONSUMER_SEQUENCE -> consumerSequence = number;
        case STREAM_SEQUENCE -> streamSequence = number;
        default -> {} // how often it was delivered
      }
    }
    int consumerAt = reply.lastIndexOf('.', at - 1) + 1;
    return new Delivery(reply, consumerAt, at, streamSequence, consumerSequence, timeNs, pending);
  }

  /** Whether the message was sent to this consumer. */
  boolean isTo(String consumer) {
    return consumer != null
        && consumer.length() == consumerEnd - consumerAt
        && reply.startsWith(consumer, consumerAt);
  }
}
