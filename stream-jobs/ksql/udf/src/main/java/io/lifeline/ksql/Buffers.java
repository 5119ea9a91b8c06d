package io.lifeline.ksql;

import java.nio.ByteBuffer;

/** What ksqlDB hands over as BYTES. */
final class Buffers {

  private Buffers() {}

  /** The buffer's bytes; its position stays where it is, since other functions of the same row get the same buffer. */
  static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.duplicate().get(bytes);
    return bytes;
  }
}
