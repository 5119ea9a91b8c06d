package io.lifeline.codec;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Reads and writes integers at any offset of a byte array, in either byte order: "receiver makes right". */
final class Bytes {
  private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private Bytes() {}

  static int getU16(byte[] bytes, int at, boolean bigEndian) {
    short value = (short) SHORT.get(bytes, at);
    return (bigEndian ? Short.reverseBytes(value) : value) & 0xffff;
  }

  static int getInt(byte[] bytes, int at, boolean bigEndian) {
    int value = (int) INT.get(bytes, at);
    return bigEndian ? Integer.reverseBytes(value) : value;
  }

  static long getU32(byte[] bytes, int at, boolean bigEndian) {
    return Integer.toUnsignedLong(getInt(bytes, at, bigEndian));
  }

  static long getLong(byte[] bytes, int at, boolean bigEndian) {
    long value = (long) LONG.get(bytes, at);
    return bigEndian ? Long.reverseBytes(value) : value;
  }

  static void putLong(byte[] bytes, int at, long value, boolean bigEndian) {
    LONG.set(bytes, at, bigEndian ? Long.reverseBytes(value) : value);
  }

  /** Writes a little-endian long. */
  static void putLong(byte[] bytes, int at, long value) {
    LONG.set(bytes, at, value);
  }
}
