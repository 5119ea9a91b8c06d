package io.lifeline.connect.nats;

/**
 * What a server says of a message that it delivers, in the reply subject: {@code
 * $JS.ACK.[<domain>.<account>.]<stream>.<consumer>.<deliveries>.<stream sequence>.<consumer
 * sequence>.<time>.<pending>}.
 *
 * <p>Taken apart here, from its end: the client's own way splits the whole text and makes a calendar's date of the
 * time, for every message.
 *
 * @param consumer the name of the consumer
 * @param streamSequence the message's number in the stream
 * @param consumerSequence its number among those that this consumer was sent
 * @param timeNs when the stream took it, since 1970
 * @param pending how many messages the consumer has still to be sent
 */
record Delivery(String consumer, long streamSequence, long consumerSequence, long timeNs, long pending) {

  private static final String PREFIX = "$JS.ACK.";

  /**
   * Reads a reply subject.
   *
   * @return null if it is none of a stream's
   */
  static Delivery parse(String reply) {
    if (reply == null || !reply.startsWith(PREFIX)) {
      return null;
    }
    try {
      int pendingAt = reply.lastIndexOf('.');
      int timeAt = reply.lastIndexOf('.', pendingAt - 1);
      int consumerSequenceAt = reply.lastIndexOf('.', timeAt - 1);
      int streamSequenceAt = reply.lastIndexOf('.', consumerSequenceAt - 1);
      int deliveriesAt = reply.lastIndexOf('.', streamSequenceAt - 1);
      int consumerAt = reply.lastIndexOf('.', deliveriesAt - 1);
      return new Delivery(
          reply.substring(consumerAt + 1, deliveriesAt),
          Long.parseLong(reply, streamSequenceAt + 1, consumerSequenceAt, 10),
          Long.parseLong(reply, consumerSequenceAt + 1, timeAt, 10),
          Long.parseLong(reply, timeAt + 1, pendingAt, 10),
          Long.parseLong(reply, pendingAt + 1, reply.length(), 10));
    } catch (IndexOutOfBoundsException | NumberFormatException e) {
      return null;
    }
  }
}
