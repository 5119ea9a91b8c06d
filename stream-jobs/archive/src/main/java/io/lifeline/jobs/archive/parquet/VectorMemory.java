package io.lifeline.jobs.archive.parquet;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.duckdb.DuckDBWritableVector;

/**
 * The memory of a DuckDB vector, for writing many values at once. The driver has no method for that: its setters lock
 * and unlock the vector's validity for each value. The fields are private, so every test of the archive fails if
 * another version of the driver names them differently.
 */
final class VectorMemory {
  private static final VarHandle DATA = field("data");
  private static final VarHandle VALIDITY = field("validity");

  private VectorMemory() {}

  private static VarHandle field(String name) {
    try {
      return MethodHandles.privateLookupIn(DuckDBWritableVector.class, MethodHandles.lookup())
          .findVarHandle(DuckDBWritableVector.class, name, ByteBuffer.class);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("DuckDB's driver has no field " + name + " in its vectors", e);
    }
  }

  /** Returns the values, in native byte order, and marks the rows as not null. */
  static ByteBuffer values(DuckDBWritableVector vector, int at, int count) {
    setValid((ByteBuffer) VALIDITY.get(vector), at, at + count);
    return (ByteBuffer) DATA.get(vector);
  }

  /** Sets the bits from {@code from} to {@code to} (exclusive), in words of 64 rows. */
  private static void setValid(ByteBuffer validity, int from, int to) {
    for (int row = from; row < to; row = (row | 63) + 1) {
      long bits = -1L << row;
      if (to - row < 64 - (row & 63)) {
        bits &= ~(-1L << to);
      }
      int word = row >> 6 << 3;
      validity.putLong(word, validity.getLong(word) | bits);
    }
  }
}
