package io.lifeline.jobs.archive.parquet;

import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Utf8;
import io.lifeline.jobs.archive.Json;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.core.JsonWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
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
    if (type.isVariable()) {
      return new Text(type);
    }
    return type.isFloating() ? new Doubles(type) : new Longs(type);
  }

  /** Takes the field's values of all events of the group; {@code rows} are here already. */
  abstract void append(ColumnarBatch.Columns group, int field, int rows);

  /** Memory held, in bytes. */
  abstract long bytes();

  /** The vector's type: the nearest that a table function can have. */
  abstract DuckDBColumnType vectorType();

  /** SQL that turns the vector's value into the field's. */
  abstract String value(String vector);

  abstract void write(DuckDBWritableVector vector, int at, int from, int count);

  /** The value as JSON has it: no infinities, no NaN and no bytes, which come as text. */
  abstract void writeJson(JsonWriter json, int row);

  abstract String text(int row);

  static int grown(int capacity, int needed) {
    return Math.max(needed, Math.max(FIRST_CAPACITY, capacity + (capacity >> 1)));
  }

  /** i32, i64, u32, u64 (its bits) and bool. */
  static final class Longs extends Column {
    private long[] values = new long[0];
    private boolean negative;

    Longs(FieldType type) {
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
      return switch (type) {
        case BOOL -> "(" + vector + " <> 0)";
        case U64 -> negative ? Sql.unsigned(vector) : vector + "::UBIGINT";
        case I64 -> vector;
        default -> vector + "::" + Sql.type(type);
      };
    }

    @Override
    void write(DuckDBWritableVector vector, int at, int from, int count) {
      for (int i = 0; i < count; i++) {
        vector.setLong(at + i, values[from + i]);
      }
    }

    @Override
    void writeJson(JsonWriter json, int row) {
      switch (type) {
        case BOOL -> json.value(values[row] != 0);
        case U64 -> json.valueUnsigned(values[row]);
        default -> json.value(values[row]);
      }
    }

    @Override
    String text(int row) {
      return switch (type) {
        case BOOL -> Boolean.toString(values[row] != 0);
        case U64 -> Long.toUnsignedString(values[row]);
        default -> Long.toString(values[row]);
      };
    }
  }

  /** f32 and f64. */
  static final class Doubles extends Column {
    private double[] values = new double[0];

    Doubles(FieldType type) {
      super(type);
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
      return type == FieldType.F32 ? vector + "::FLOAT" : vector;
    }

    @Override
    void write(DuckDBWritableVector vector, int at, int from, int count) {
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
      return Double.toString(values[row]);
    }
  }

  /** Strings as UTF-8, and bytes as hexadecimal digits, since a table function's vector cannot be a BLOB. */
  static final class Text extends Column {
    private static final HexFormat HEX = HexFormat.of();

    private byte[] heap = new byte[0];
    private int[] ends = new int[0];
    private int heapSize;

    Text(FieldType type) {
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
}
