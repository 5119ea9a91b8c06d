package io.lifeline.jobs.archive.parquet;

import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Utf8;
import io.lifeline.jobs.core.JsonWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBWritableVector;

/** Strings as UTF-8, and bytes as hexadecimal digits, since a table function's vector cannot be a BLOB. */
final class TextColumn extends Column {
  private static final HexFormat HEX = HexFormat.of();

  private byte[] heap = new byte[0];
  private int[] ends = new int[0];
  private int heapSize;

  TextColumn(FieldType type) {
    super(type);
  }

  @Override
  void append(ColumnarBatch.Columns group, int field, int rows) {
    int count = group.size();
    if (rows + count > ends.length) {
      ends = Arrays.copyOf(ends, grown(ends.length, rows + count));
    }
    byte[] raw = group.raw();
    int[] offsets = group.offsets(field);
    int[] lengths = group.lengths(field);
    for (int i = 0; i < count; i++) {
      if (type == FieldType.BYTES) {
        byte[] digits = HEX.formatHex(raw, offsets[i], offsets[i] + lengths[i]).getBytes(StandardCharsets.US_ASCII);
        put(digits, 0, digits.length);
      } else if (Utf8.isWellFormed(raw, offsets[i], lengths[i])) {
        put(raw, offsets[i], lengths[i]);
      } else {
        byte[] repaired = Utf8.decode(raw, offsets[i], lengths[i]).getBytes(StandardCharsets.UTF_8);
        put(repaired, 0, repaired.length);
      }
      ends[rows + i] = heapSize;
    }
  }

  private void put(byte[] from, int offset, int length) {
    if (heapSize + length > heap.length) {
      heap = Arrays.copyOf(heap, grown(heap.length, heapSize + length));
    }
    System.arraycopy(from, offset, heap, heapSize, length);
    heapSize += length;
  }

  @Override
  long bytes() {
    return heap.length + 4L * ends.length;
  }

  @Override
  DuckDBColumnType vectorType() {
    return DuckDBColumnType.VARCHAR;
  }

  @Override
  String value(String vector) {
    return type == FieldType.BYTES ? "unhex(" + vector + ")" : vector;
  }

  @Override
  void write(DuckDBWritableVector vector, int at, int from, int count) {
    byte[][] values = new byte[count][];
    for (int i = 0; i < count; i++) {
      values[i] = Arrays.copyOfRange(heap, start(from + i), ends[from + i]);
    }
    vector.setStringUtf8Batch(at, values);
  }

  @Override
  void writeJson(JsonWriter json, int row) {
    json.value(text(row));
  }

  @Override
  String text(int row) {
    int start = start(row);
    return new String(heap, start, ends[row] - start, StandardCharsets.UTF_8);
  }

  private int start(int row) {
    return row == 0 ? 0 : ends[row - 1];
  }
}
