package io.lifeline.jobs.archive.parquet;

import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.Constant;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import io.lifeline.codec.FieldType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.duckdb.DuckDBColumnType;
import org.duckdb.DuckDBDataChunkWriter;

/** The events of one type since the last roll, as columns. */
final class TypeRows implements RowSource {
  /** Memory that a type uses before its first row: enforces the memory limit for batches that only bring types. */
  private static final long OVERHEAD_BYTES = 2_000;

  /**
   * Maximum total size of constants in a shared file, where every row repeats them; a type with more gets its own file.
   */
  private static final long MAX_SHARED_CONSTANT_BYTES = 1 << 20;

  private final EventType type;
  private final LongColumn times = new LongColumn(FieldType.I64);
  private final LongColumn threads = new LongColumn(FieldType.U64);
  private final BatchRuns batches = new BatchRuns();
  private int[] eventIndexes = new int[0];
  private final List<Column> fields = new ArrayList<>();
  private final long constantBytes;
  private int rows;

  TypeRows(EventType type) {
    this.type = type;
    this.constantBytes =
        type.constants().stream()
            .map(Constant::value)
            .mapToLong(value -> 2L * (value instanceof byte[] bytes ? bytes.length : value.toString().length()))
            .sum();
    for (Field field : type.fields()) {
      fields.add(Column.of(field.type()));
    }
  }

  EventType type() {
    return type;
  }

  Column field(int index) {
    return fields.get(index);
  }

  LongColumn threads() {
    return threads;
  }

  /** Appends the events of a batch; {@code batch} is its index in the roll. */
  void append(ColumnarBatch.Columns group, int batch) {
    int count = group.size();
    times.append(group.timeNs(), count, rows);
    threads.append(group.thread(), count, rows);
    if (rows + count > eventIndexes.length) {
      eventIndexes = Arrays.copyOf(eventIndexes, Column.grown(eventIndexes.length, rows + count));
    }
    batches.append(batch, rows + count);
    System.arraycopy(group.eventIndex(), 0, eventIndexes, rows, count);
    for (int i = 0; i < fields.size(); i++) {
      fields.get(i).append(group, i, rows);
    }
    rows += count;
  }

  /** Returns whether to store the type in a file shared with other types. */
  boolean isRare(int rareRows) {
    return rows < rareRows && rows * constantBytes <= MAX_SHARED_CONSTANT_BYTES;
  }

  /** Returns the memory used, in bytes. */
  long bytes() {
    long sum = OVERHEAD_BYTES + constantBytes + times.bytes() + threads.bytes() + batches.bytes()
        + 4L * eventIndexes.length;
    for (Column field : fields) {
      sum += field.bytes();
    }
    return sum;
  }

  @Override
  public List<VectorColumn> columns() {
    List<VectorColumn> columns = new ArrayList<>(eventColumns());
    for (int i = 0; i < fields.size(); i++) {
      columns.add(new VectorColumn("f" + i, fields.get(i).vectorType()));
    }
    return columns;
  }

  /** Returns the columns of every event, besides its fields. */
  static List<VectorColumn> eventColumns() {
    return List.of(
        new VectorColumn("ts", DuckDBColumnType.BIGINT),
        new VectorColumn("thread", DuckDBColumnType.BIGINT),
        new VectorColumn("batch", DuckDBColumnType.INTEGER),
        new VectorColumn("event_index", DuckDBColumnType.INTEGER));
  }

  @Override
  public int rows() {
    return rows;
  }

  @Override
  public void fill(DuckDBDataChunkWriter chunk, int from, int count) {
    int next = fillEvents(chunk, 0, from, count);
    for (Column field : fields) {
      field.write(chunk.vector(next++), 0, from, count);
    }
  }

  /** Writes the {@link #eventColumns} into rows {@code at} and following; returns the number of columns. */
  int fillEvents(DuckDBDataChunkWriter chunk, int at, int from, int count) {
    times.write(chunk.vector(0), at, from, count);
    threads.write(chunk.vector(1), at, from, count);
    batches.write(chunk.vector(2), at, from, count);
    VectorMemory.values(chunk.vector(3), at, count).asIntBuffer().put(at, eventIndexes, from, count);
    return 4;
  }
}
