package io.lifeline.jobs.archive.parquet;

import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.archive.Json;
import io.lifeline.jobs.core.JsonWriter;
import java.util.Arrays;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBWritableVector;

/** f64. */
final class DoubleColumn extends Column {
  private double[] values = new double[0];

  DoubleColumn() {
    super(FieldType.F64);
  }

  @Override
  void append(ColumnarBatch.Columns group, int field, int rows) {
    int count = group.size();
    if (rows + count > values.length) {
      values = Arrays.copyOf(values, grown(values.length, rows + count));
    }
    System.arraycopy(group.doubles(field), 0, values, rows, count);
  }

  @Override
  long bytes() {
    return 8L * values.length;
  }

  @Override
  DuckDBColumnType vectorType() {
    return DuckDBColumnType.DOUBLE;
  }

  @Override
  String value(String vector) {
    return vector;
  }

  @Override
  void write(DuckDBWritableVector vector, int at, int from, int count) {
    VectorMemory.values(vector, at, count).asDoubleBuffer().put(at, values, from, count);
  }

  @Override
  void writeJson(JsonWriter json, int row) {
    Json.number(json, values[row]);
  }

  @Override
  String text(int row) {
    return Double.toString(values[row]);
  }
}
