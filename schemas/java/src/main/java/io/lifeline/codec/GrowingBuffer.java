package io.lifeline.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A growing byte buffer with one byte order. */
final class GrowingBuffer {
  private final ByteOrder order;
  private ByteBuffer buffer;

  GrowingBuffer(ByteOrder order) {
    this.order = order;
    this.buffer = ByteBuffer.allocate(1024).order(order);
  }

  GrowingBuffer u8(int value) {
    room(1).put((byte) value);
    return this;
  }

  GrowingBuffer u16(int value) {
    room(2).putShort((short) value);
    return this;
  }

  GrowingBuffer i32(int value) {
    room(4).putInt(value);
    return this;
  }

  GrowingBuffer i64(long value) {
    room(8).putLong(value);
    return this;
  }

  /** Writes an incarnation, whose byte order is the same on every machine. */
  GrowingBuffer incarnation(Incarnation value) {
    room(16).order(ByteOrder.BIG_ENDIAN).putLong(value.high()).putLong(value.low()).order(order);
    return this;
  }

  GrowingBuffer bytes(byte[] value) {
    return bytes(value, 0, value.length);
  }

  GrowingBuffer bytes(byte[] from, int offset, int length) {
    room(length).put(from, offset, length);
    return this;
  }

  /** Writes a {@code str16}; the caller has checked that it fits. */
  GrowingBuffer text(String value) {
    return counted(value.getBytes(StandardCharsets.UTF_8));
  }

  GrowingBuffer counted(byte[] value) {
    if (value.length > 0xffff) {
      throw new IllegalArgumentException("a string of " + value.length + " bytes is above the format's 65535");
    }
    return u16(value.length).bytes(value);
  }

  GrowingBuffer padTo8() {
    return bytes(new byte[RecordLayout.padded(length()) - length()]);
  }

  /** Overwrites four bytes written before. */
  GrowingBuffer putInt(int at, int value) {
    buffer.putInt(at, value);
    return this;
  }

  int length() {
    return buffer.position();
  }

  /** Returns the array with the bytes written, followed by unused space. */
  byte[] array() {
    return buffer.array();
  }

  byte[] toByteArray() {
    return Arrays.copyOf(buffer.array(), buffer.position());
  }

  private ByteBuffer room(int length) {
    if (buffer.remaining() < length) {
      int capacity = Math.max(2 * buffer.capacity(), buffer.position() + length);
      buffer = ByteBuffer.allocate(capacity).order(order).put(buffer.flip());
    }
    return buffer;
  }
}
