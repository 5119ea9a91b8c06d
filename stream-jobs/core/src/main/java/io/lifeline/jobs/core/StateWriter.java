package io.lifeline.jobs.core;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Writes compact state: small numbers take few bytes. {@link StateReader} reads it back. */
public final class StateWriter {

  private byte[] bytes = new byte[64];
  private int length;

  /** Starts a value with the version of its layout, so that a later release can read or refuse it. */
  public StateWriter version(int version) {
    return fixed8(version);
  }

  public StateWriter fixed8(int value) {
    reserve(1);
    bytes[length++] = (byte) value;
    return this;
  }

  public StateWriter fixed32(int value) {
    reserve(4);
    for (int shift = 0; shift < 32; shift += 8) {
      bytes[length++] = (byte) (value >>> shift);
    }
    return this;
  }

  public StateWriter fixed64(long value) {
    return fixed32((int) value).fixed32((int) (value >>> 32));
  }

  public StateWriter real(double value) {
    return fixed64(Double.doubleToRawLongBits(value));
  }

  /** Unsigned: seven bits per byte, the lowest first. */
  public StateWriter varint(long value) {
    reserve(10);
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      bytes[length++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[length++] = (byte) rest;
    return this;
  }

  /** Signed: small magnitudes take few bytes. */
  public StateWriter zigzag(long value) {
    return varint((value << 1) ^ (value >> 63));
  }

  public StateWriter blob(byte[] value) {
    varint(value.length);
    reserve(value.length);
    System.arraycopy(value, 0, bytes, length, value.length);
    length += value.length;
    return this;
  }

  public StateWriter text(String value) {
    return blob(value.getBytes(StandardCharsets.UTF_8));
  }

  public byte[] toBytes() {
    return Arrays.copyOf(bytes, length);
  }

  private void reserve(int more) {
    if (bytes.length - length < more) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
    }
  }
}
