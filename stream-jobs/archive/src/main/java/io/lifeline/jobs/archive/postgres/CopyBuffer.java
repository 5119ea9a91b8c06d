package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.Sql;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.postgresql.copy.CopyIn;

/** Rows in PostgreSQL's binary COPY format, in memory. Each put writes one value, preceded by its length. */
final class CopyBuffer {
  private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private static final byte[] SIGNATURE = {'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0};
  private static final int HEADER = SIGNATURE.length + 8;
  private static final short TRAILER = -1;

  /** Message size. The server reads a whole message before it parses it, so small messages keep both sides busy. */
  private static final int MESSAGE = CopySegments.SIZE;

  /** Maximum size of a fixed-length value with its length prefix; numeric is the longest. */
  private static final int FIXED = 4 + 8 + 2 * 5;

  private static final long NUMERIC_BASE = 10_000;

  /** 2000-01-01, PostgreSQL's epoch, in microseconds since 1970-01-01. */
  private static final long EPOCH_MICROS = 946_684_800_000_000L;

  private final int columns;
  private final CopySegments pool;
  private final List<ByteBuffer> full = new ArrayList<>();
  private byte[] bytes = new byte[CopySegments.SMALLEST];
  private int size;
  private int firstRow;
  private long fullCapacity;

  /**
   * @param columns number of columns per row
   * @param pool memory pool
   */
  CopyBuffer(int columns, CopySegments pool) {
    this.columns = columns;
    this.pool = pool;
    System.arraycopy(SIGNATURE, 0, bytes, 0, SIGNATURE.length);
    size = HEADER;
  }

  /** Returns the memory to the pool; the buffer must not be used afterwards. */
  void release() {
    full.forEach(segment -> pool.give(segment.array()));
    pool.give(bytes);
  }

  /** Returns the memory used, in bytes. */
  long capacity() {
    return fullCapacity + bytes.length;
  }

  /** Reserves this many bytes plus a row of fixed-length values, which then need no further check. */
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

  /** Begins a row; values for all columns must follow. */
  void row() {
    reserve(0);
    SHORT.set(bytes, size, (short) columns);
    size += 2;
  }

  /**
   * Adds rows that are copies of a template, as many as fit into the segment but at most so many; returns how many.
   * Their values are then set from {@link #firstRow} on: column by column, which is faster than row by row.
   */
  int addRows(byte[] template, int most) {
    if (template.length + 2 > bytes.length - size) {
      addRoom(template.length + 2);
    }
    int count = Math.min(most, (bytes.length - size - 2) / template.length);
    int length = count * template.length;
    System.arraycopy(template, 0, bytes, size, template.length);
    for (int done = template.length; done < length; done *= 2) {
      System.arraycopy(bytes, size, bytes, size + done, Math.min(done, length - done));
    }
    firstRow = size;
    size += length;
    return count;
  }

  /** Returns where the rows begin that were added last. */
  int firstRow() {
    return firstRow;
  }

  void setByte(int at, int value) {
    bytes[at] = (byte) value;
  }

  void setShort(int at, int value) {
    SHORT.set(bytes, at, (short) value);
  }

  void setInt(int at, int value) {
    INT.set(bytes, at, value);
  }

  void setLong(int at, long value) {
    LONG.set(bytes, at, value);
  }

  void setMicros(int at, long microsSince1970) {
    setLong(at, microsSince1970 - EPOCH_MICROS);
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

  void putNull() {
    INT.set(bytes, size, -1);
    size += 4;
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

  /** Writes a timestamptz. */
  void putMicros(long microsSince1970) {
    putLong(microsSince1970 - EPOCH_MICROS);
  }

  /** Writes a numeric: up to five digits of base 10,000, most significant first. */
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

  /** Writes bytes, or UTF-8 text without NUL. */
  void putBytes(byte[] from, int offset, int length) {
    reserve(4 + length);
    INT.set(bytes, size, length);
    System.arraycopy(from, offset, bytes, size + 4, length);
    size += 4 + length;
  }

  /** Writes text that may contain NUL. */
  void putText(String text) {
    byte[] utf8 = Sql.clean(text).getBytes(StandardCharsets.UTF_8);
    putBytes(utf8, 0, utf8.length);
  }

  /** Writes a jsonb: a version and the text. */
  void putJson(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    reserve(5 + utf8.length);
    INT.set(bytes, size, 1 + utf8.length);
    bytes[size + 4] = 1;
    System.arraycopy(utf8, 0, bytes, size + 5, utf8.length);
    size += 5 + utf8.length;
  }

  /**
   * Writes a value of a type of SQL: text or jsonb from a String, integer, bigint and boolean, an unsigned numeric from
   * its decimal digits, timestamptz from an Instant; null is NULL.
   */
  void put(String type, Object value) {
    if (value == null) {
      putNull();
      return;
    }
    switch (type) {
      case "text" -> putText((String) value);
      case "jsonb" -> putJson((String) value);
      case "integer" -> putInt((Integer) value);
      case "bigint" -> putLong((Long) value);
      case "boolean" -> putBool((Boolean) value);
      case "numeric" -> putUnsigned(Long.parseUnsignedLong((String) value));
      case "timestamptz" -> putMicros(ChronoUnit.MICROS.between(Instant.EPOCH, (Instant) value));
      default -> throw new IllegalArgumentException("no value of type " + type + " can be written");
    }
  }

  /** Sends the full segments and returns their memory to the pool; {@link #sendTo} sends the rest. */
  void sendFull(CopyIn copy) throws SQLException {
    for (; !full.isEmpty(); full.remove(0)) {
      byte[] segment = full.get(0).array();
      send(copy, segment, full.get(0).limit());
      fullCapacity -= segment.length;
      pool.give(segment);
    }
  }

  /** Sends header, rows and trailer; the buffer stays unchanged. */
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
