package io.lifeline.connect.nats;

import io.lifeline.codec.Fnv1a;
import io.lifeline.codec.Incarnation;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Emitter and sequence of a Lifeline batch (FORMAT.md, sections 3 and 12), from the fixed part of its header. The rest
 * of the batch is not validated here.
 *
 * @param ending the last four bytes, which only readers of the batch know before it is published
 */
record BatchIdentity(Incarnation incarnation, int route, long sequence, int ending) {

  static final String HOST = "Lifeline-Host";
  static final String PROGRAM = "Lifeline-Program";

  private static final int MAGIC = 0x894c4c42;
  private static final int BYTE_ORDER_AT = 5;
  private static final int INCARNATION_AT = 16;
  private static final int SEQUENCE_AT = 32;
  private static final int ROUTE_AT = 80;
  private static final int FIXED_LENGTH = 96;
  private static final int SUBJECTS = 16;

  /** The identity, or null if the bytes do not start with a batch header. */
  static BatchIdentity of(byte[] message) {
    if (message == null || message.length < FIXED_LENGTH || ByteBuffer.wrap(message).getInt() != MAGIC) {
      return null;
    }
    ByteBuffer header = ByteBuffer.wrap(message);
    Incarnation incarnation = new Incarnation(header.getLong(INCARNATION_AT), header.getLong(INCARNATION_AT + 8));
    header.order(message[BYTE_ORDER_AT] == 1 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    return new BatchIdentity(
        incarnation,
        Short.toUnsignedInt(header.getShort(ROUTE_AT)),
        header.getLong(SEQUENCE_AT),
        ByteBuffer.wrap(message).getInt(message.length - Integer.BYTES));
  }

  /** The key of a batch's record on Kafka, or null if it is no batch. */
  static byte[] keyOf(byte[] message) {
    BatchIdentity identity = of(message);
    return identity == null ? null : identity.incarnation.toString().getBytes(StandardCharsets.US_ASCII);
  }

  /** The NATS message id, for deduplication. */
  String messageId() {
    return incarnation + "-" + route + "-" + Long.toUnsignedString(sequence) + "-"
        + HexFormat.of().toHexDigits(ending);
  }

  /** Index of the emitter's subject, 0 to 15. */
  int subjectNumber() {
    byte[] bytes = ByteBuffer.allocate(16).putLong(incarnation.high()).putLong(incarnation.low()).array();
    return (int) Long.remainderUnsigned(Fnv1a.hash(bytes), SUBJECTS);
  }
}
