package io.lifeline.jobs.archive.parquet;

import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.core.JsonWriter;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBWritableVector;

/** The values of one field, appended batch by batch and passed to DuckDB all at once. */
abstract class Column {
  private static final int FIRST_CAPACITY = 64;

  final FieldType type;

  Column(FieldType type) {
    this.type = type;
  }

  static Column of(FieldType type) {
    return switch (type) {
      case STRING, BYTES -> new TextColumn(type);
      case F64 -> new DoubleColumn();
      case F32 -> new FloatColumn();
      case I64, U64 -> new LongColumn(type);
      case I32, U32, BOOL -> new IntColumn(type);
    };
  }

  /** Appends the field's values of all events of the group, after {@code rows} existing ones. */
  abstract void append(ColumnarBatch.Columns group, int field, int rows);

  /** Returns the memory used, in bytes. */
  abstract long bytes();

  /** Returns the vector's type: the closest one that a table function supports. */
  abstract DuckDBColumnType vectorType();

  /** Returns SQL that converts the vector's value to the field's. */
  abstract String value(String vector);

  /** Writes into a vector of {@link #vectorType}. */
  abstract void write(DuckDBWritableVector vector, int at, int from, int count);

  /** Writes into a vector of the field's type in the {@link Slots} of a shared file. */
  void writeToSlot(DuckDBWritableVector vector, int at, int from, int count) {
    write(vector, at, from, count);
  }

  /** Writes the value as JSON; infinities, NaN and bytes are written as text. */
  abstract void writeJson(JsonWriter json, int row);

  abstract String text(int row);

  static int grown(int capacity, int needed) {
    return Math.max(needed, Math.max(FIRST_CAPACITY, capacity + (capacity >> 1)));
  }
}
