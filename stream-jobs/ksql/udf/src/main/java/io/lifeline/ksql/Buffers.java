package io.lifeline.ksql;

import java.nio.ByteBuffer;

/** Reads BYTES values of ksqlDB. */
final class Buffers {

  private Buffers() {}

  /** Returns the buffer's bytes; leaves its position, because other functions of the same row get the same buffer. */
  static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.duplicate().get(bytes);
    return bytes;
  }
}
