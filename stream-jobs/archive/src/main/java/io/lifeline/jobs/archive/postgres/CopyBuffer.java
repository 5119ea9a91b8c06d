package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.Sql;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.postgresql.copy.CopyIn;

/** Rows in PostgreSQL's binary COPY format, in memory. Each put writes one value, with its length before it. */
final class CopyBuffer {
  private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private static final byte[] SIGNATURE = {'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0};
  private static final int HEADER = SIGNATURE.length + 8;
  private static final short TRAILER = -1;

  /** The server reads a message as a whole before it looks into it, so small ones keep both sides at work. */
  private static final int MESSAGE = CopySegments.SIZE;

  /** A value of a fixed length is never longer than this, its own length included; a numeric is the longest. */
  private static final int FIXED = 4 + 8 + 2 * 5;

  private static final long NUMERIC_BASE = 10_000;

  /** 1970-01-01 to 2000-01-01, where PostgreSQL's time begins. */
  private static final long EPOCH_MICROS = 946_684_800_000_000L;

  private final int columns;
  private final CopySegments pool;
  private final List<ByteBuffer> full = new ArrayList<>();
  private byte[] bytes = new byte[CopySegments.SMALLEST];
  private int size;
  private long fullCapacity;

  /**
   * @param columns of each row
   * @param pool to take memory from
   */
  CopyBuffer(int columns, CopySegments pool) {
    this.columns = columns;
    this.pool = pool;
    System.arraycopy(SIGNATURE, 0, bytes, 0, SIGNATURE.length);
    size = HEADER;
  }

  /** Gives the memory back; the buffer is of no use any more. */
  void release() {
    full.forEach(segment -> pool.give(segment.array()));
    pool.give(bytes);
  }

  /** Memory held, in bytes. */
  long capacity() {
    return fullCapacity + bytes.length;
  }

  /** Makes room for so many bytes and then a whole row of values of fixed length, which need not ask any more. */
  private void reserve(int room) {
    int needed = room + 2 + columns * FIXED;
    if (needed > bytes.length - size) {
      addRoom(needed);
    }
  }

  private void addRoom(int needed) {
    byte[] grown = pool.grown(bytes, size + needed);
    if (grown != null) {
      System.arraycopy(bytes, 0, grown, 0, size);
    } else {
      full.add(ByteBuffer.wrap(bytes, 0, size));
      fullCapacity += bytes.length;
      size = 0;
      grown = pool.take(needed);
    }
    bytes = grown;
  }

  /** Begins a row; all of its columns must follow. */
  void row() {
    reserve(0);
    SHORT.set(bytes, size, (short) columns);
    size += 2;
  }

  void putShort(int value) {
    INT.set(bytes, size, 2);
    SHORT.set(bytes, size + 4, (short) value);
    size += 6;
  }

  void putInt(int value) {
    INT.set(bytes, size, 4);
    INT.set(bytes, size + 4, value);
    size += 8;
  }

  void putLong(long value) {
    INT.set(bytes, size, 8);
    LONG.set(bytes, size + 4, value);
    size += 12;
  }

  void putFloat(float value) {
    putInt(Float.floatToRawIntBits(value));
  }

  void putDouble(double value) {
    putLong(Double.doubleToRawLongBits(value));
  }

  void putBool(boolean value) {
    INT.set(bytes, size, 1);
    bytes[size + 4] = (byte) (value ? 1 : 0);
    size += 5;
  }

  /** A timestamptz. */
  void putMicros(long microsSince1970) {
    putLong(microsSince1970 - EPOCH_MICROS);
  }

  /** A numeric: up to five digits of base 10,000, of which the first stands for the highest power. */
  void putUnsigned(long value) {
    int digits = numericDigits(value);
    INT.set(bytes, size, 8 + 2 * digits);
    SHORT.set(bytes, size + 4, (short) digits);
    SHORT.set(bytes, size + 6, (short) (digits - 1));
    INT.set(bytes, size + 8, 0);
    long rest = value;
    for (int at = size + 12 + 2 * (digits - 1); at >= size + 12; at -= 2) {
      long quotient = Long.divideUnsigned(rest, NUMERIC_BASE);
      SHORT.set(bytes, at, (short) (rest - quotient * NUMERIC_BASE));
      rest = quotient;
    }
    size += 12 + 2 * digits;
  }

  private static int numericDigits(long value) {
    int digits = 0;
    for (long rest = value; rest != 0; rest = Long.divideUnsigned(rest, NUMERIC_BASE)) {
      digits++;
    }
    return digits;
  }

  /** Bytes, or a text in UTF-8 without NUL. */
  void putBytes(byte[] from, int offset, int length) {
    reserve(4 + length);
    INT.set(bytes, size, length);
    System.arraycopy(from, offset, bytes, size + 4, length);
    size += 4 + length;
  }

  /** A text that may hold NUL. */
  void putText(String text) {
    byte[] utf8 = Sql.clean(text).getBytes(StandardCharsets.UTF_8);
    putBytes(utf8, 0, utf8.length);
  }

  /** A jsonb: a version and the text. */
  void putJson(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    reserve(5 + utf8.length);
    INT.set(bytes, size, 1 + utf8.length);
    bytes[size + 4] = 1;
    System.arraycopy(utf8, 0, bytes, size + 5, utf8.length);
    size += 5 + utf8.length;
  }

  /** Sends header, rows and trailer; the buffer stays as it is. */
  void sendTo(CopyIn copy) throws SQLException {
    reserve(0);
    SHORT.set(bytes, size, TRAILER);
    for (ByteBuffer segment : full) {
      send(copy, segment.array(), segment.limit());
    }
    send(copy, bytes, size + 2);
  }

  private static void send(CopyIn copy, byte[] from, int length) throws SQLException {
    for (int at = 0; at < length; at += MESSAGE) {
      copy.writeToCopy(from, at, Math.min(MESSAGE, length - at));
    }
  }
}
