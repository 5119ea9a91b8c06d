package io.lifeline.jobs.archive.parquet;

import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.core.JsonWriter;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBWritableVector;

/** i32, u32 as its bits, and bool as 0 or 1. */
final class IntColumn extends Column {
  private int[] values = new int[0];

  IntColumn(FieldType type) {
    super(type);
  }

  @Override
  void append(ColumnarBatch.Columns group, int field, int rows) {
    int count = group.size();
    if (rows + count > values.length) {
      values = Arrays.copyOf(values, grown(values.length, rows + count));
    }
    long[] from = group.longs(field);
    for (int i = 0; i < count; i++) {
      values[rows + i] = (int) from[i];
    }
  }

  @Override
  long bytes() {
    return 4L * values.length;
  }

  @Override
  DuckDBColumnType vectorType() {
    return switch (type) {
      case BOOL -> DuckDBColumnType.BOOLEAN;
      case U32 -> DuckDBColumnType.UINTEGER;
      default -> DuckDBColumnType.INTEGER;
    };
  }

  @Override
  String value(String vector) {
    return vector;
  }

  @Override
  void write(DuckDBWritableVector vector, int at, int from, int count) {
    ByteBuffer memory = VectorMemory.values(vector, at, count);
    if (type == FieldType.BOOL) {
      for (int i = 0; i < count; i++) {
        memory.put(at + i, (byte) values[from + i]);
      }
    } else {
      memory.asIntBuffer().put(at, values, from, count);
    }
  }

  @Override
  void writeToSlot(DuckDBWritableVector vector, int at, int from, int count) {
    for (int i = 0; i < count; i++) {
      vector.setLong(at + i, number(from + i));
    }
  }

  private long number(int row) {
    return type == FieldType.U32 ? Integer.toUnsignedLong(values[row]) : values[row];
  }

  @Override
  void writeJson(JsonWriter json, int row) {
    if (type == FieldType.BOOL) {
      json.value(values[row] != 0);
    } else {
      json.value(number(row));
    }
  }

  @Override
  String text(int row) {
    return type == FieldType.BOOL ? Boolean.toString(values[row] != 0) : Long.toString(number(row));
  }
}
