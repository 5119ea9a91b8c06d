package io.lifeline.codec;

import java.util.List;

/**
 * The events of one batch as columns, a group per event type: the fastest way to look at all of them. Reusable and not
 * thread-safe; {@link #fill} overwrites what the call before it returned.
 */
public final class ColumnarBatch {
  /** Decodes all events of the batch that {@code reader} holds. */
  public ColumnarBatch fill(BatchReader reader) {
    throw new UnsupportedOperationException("signatures only, for now");
  }

  /** One group per type that has events in this batch, in the order of the batch's descriptors. */
  public List<Columns> groups() {
    throw new UnsupportedOperationException("signatures only, for now");
  }

  /** The events of one type. Arrays are valid below {@link #size()} and until the next {@link #fill}. */
  public static final class Columns {
    public EventType type() {
      throw new UnsupportedOperationException("signatures only, for now");
    }

    /** How many events. */
    public int size() {
      throw new UnsupportedOperationException("signatures only, for now");
    }

    /** When, in nanoseconds since the Unix epoch. */
    public long[] timeNs() {
      throw new UnsupportedOperationException("signatures only, for now");
    }

    /** The emitting thread's kernel id. */
    public long[] thread() {
      throw new UnsupportedOperationException("signatures only, for now");
    }

    /** Each event's place in its batch, counted from 0. */
    public int[] eventIndex() {
      throw new UnsupportedOperationException("signatures only, for now");
    }

    /** The values of a field of type i32, i64, u32, u64 or bool. */
    public long[] longs(int field) {
      throw new UnsupportedOperationException("signatures only, for now");
    }

    /** The values of a field of type f32 or f64. */
    public double[] doubles(int field) {
      throw new UnsupportedOperationException("signatures only, for now");
    }

    /** Where the values of a field of type string or bytes start in {@link #raw()}. */
    public int[] offsets(int field) {
      throw new UnsupportedOperationException("signatures only, for now");
    }

    /** How many bytes the values of a field of type string or bytes have. */
    public int[] lengths(int field) {
      throw new UnsupportedOperationException("signatures only, for now");
    }

    /** The bytes that {@link #offsets} point into. A string in there may be no UTF-8: see {@link Utf8}. */
    public byte[] raw() {
      throw new UnsupportedOperationException("signatures only, for now");
    }
  }
}
