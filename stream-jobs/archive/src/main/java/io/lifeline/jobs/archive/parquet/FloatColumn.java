package io.lifeline.jobs.archive.parquet;

import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.archive.Json;
import io.lifeline.jobs.core.JsonWriter;
import java.util.Arrays;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBWritableVector;

/** f32. */
final class FloatColumn extends Column {
  private float[] values = new float[0];

  FloatColumn() {
    super(FieldType.F32);
  }

  @Override
  void append(ColumnarBatch.Columns group, int field, int rows) {
    int count = group.size();
    if (rows + count > values.length) {
      values = Arrays.copyOf(values, grown(values.length, rows + count));
    }
    double[] from = group.doubles(field);
    for (int i = 0; i < count; i++) {
      values[rows + i] = (float) from[i];
    }
  }

  @Override
  long bytes() {
    return 4L * values.length;
  }

  @Override
  DuckDBColumnType vectorType() {
    return DuckDBColumnType.FLOAT;
  }

  @Override
  String value(String vector) {
    return vector;
  }

  @Override
  void write(DuckDBWritableVector vector, int at, int from, int count) {
    VectorMemory.values(vector, at, count).asFloatBuffer().put(at, values, from, count);
  }

  @Override
  void writeToSlot(DuckDBWritableVector vector, int at, int from, int count) {
    for (int i = 0; i < count; i++) {
      vector.setDouble(at + i, values[from + i]);
    }
  }

  @Override
  void writeJson(JsonWriter json, int row) {
    Json.number(json, values[row]);
  }

  @Override
  String text(int row) {
    return Float.toString(values[row]);
  }
}
