package io.lifeline.jobs.archive.parquet;

import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.core.JsonWriter;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBWritableVector;

/** The values of one field, appended batch by batch and handed to DuckDB in one go. */
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

  /** Takes the field's values of all events of the group; {@code rows} are here already. */
  abstract void append(ColumnarBatch.Columns group, int field, int rows);

  /** Memory held, in bytes. */
  abstract long bytes();

  /** The vector's type: the nearest that a table function can have. */
  abstract DuckDBColumnType vectorType();

  /** SQL that turns the vector's value into the field's. */
  abstract String value(String vector);

  /** Writes into a vector of {@link #vectorType}. */
  abstract void write(DuckDBWritableVector vector, int at, int from, int count);

  /** Writes into a vector of the type that the {@link Slots} of a shared file have for the field. */
  void writeToSlot(DuckDBWritableVector vector, int at, int from, int count) {
    write(vector, at, from, count);
  }

  /** The value as JSON has it: no infinities, no NaN and no bytes, which come as text. */
  abstract void writeJson(JsonWriter json, int row);

  abstract String text(int row);

  static int grown(int capacity, int needed) {
    return Math.max(needed, Math.max(FIRST_CAPACITY, capacity + (capacity >> 1)));
  }
}
