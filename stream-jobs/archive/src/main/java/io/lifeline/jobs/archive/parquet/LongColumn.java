package io.lifeline.jobs.archive.parquet;

import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.core.JsonWriter;
import java.util.Arrays;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBWritableVector;

/** i64, and u64 as its bits. */
final class LongColumn extends Column {
  private long[] values = new long[0];
  private boolean negative;

  LongColumn(FieldType type) {
    super(type);
  }

  @Override
  void append(ColumnarBatch.Columns group, int field, int rows) {
    append(group.longs(field), group.size(), rows);
  }

  void append(long[] from, int count, int rows) {
    if (rows + count > values.length) {
      values = Arrays.copyOf(values, grown(values.length, rows + count));
    }
    System.arraycopy(from, 0, values, rows, count);
    long signs = 0;
    for (int i = 0; i < count; i++) {
      signs |= from[i];
    }
    negative |= signs < 0;
  }

  @Override
  long bytes() {
    return 8L * values.length;
  }

  @Override
  DuckDBColumnType vectorType() {
    return DuckDBColumnType.BIGINT;
  }

  @Override
  String value(String vector) {
    if (type == FieldType.I64) {
      return vector;
    }
    return negative ? Sql.unsigned(vector) : vector + "::UBIGINT";
  }

  @Override
  void write(DuckDBWritableVector vector, int at, int from, int count) {
    VectorMemory.values(vector, at, count).asLongBuffer().put(at, values, from, count);
  }

  @Override
  void writeJson(JsonWriter json, int row) {
    if (type == FieldType.I64) {
      json.value(values[row]);
    } else {
      json.valueUnsigned(values[row]);
    }
  }

  @Override
  String text(int row) {
    return type == FieldType.I64 ? Long.toString(values[row]) : Long.toUnsignedString(values[row]);
  }
}
