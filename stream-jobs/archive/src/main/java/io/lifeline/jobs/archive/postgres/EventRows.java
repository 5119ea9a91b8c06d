package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.EventType;
import io.lifeline.jobs.archive.Sql;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The events of one type since the last roll, encoded for COPY, separately for each partition of the table. */
final class EventRows {
  /** Memory charged per type in addition to its rows. It limits how many tables one transaction locks. */
  static final long OVERHEAD_BYTES = 8_192;

  /** The beginning of a row: the number of its columns, and the common ones, each with its length before it. */
  private static final int COMMON_LENGTH = 58;

  private final EventTable.Version version;
  private final TypeColumns columns;
  private final CopySegments pool;

  /** A row whose values have fixed lengths, to be copied; null if lengths vary. */
  private final byte[] template;

  private final Map<Long, CopyBuffer> byPartition = new TreeMap<>();
  private long bytes = OVERHEAD_BYTES;

  EventRows(EventType type, EventTable.Version version, CopySegments pool) {
    this.version = version;
    this.pool = pool;
    this.columns = version.table().isShared() ? new SharedColumns(version) : new OwnColumns(type, version);
    this.template = columns.lengths().map(lengths -> template(lengths, version.number())).orElse(null);
  }

  /** Appends the events of a batch. */
  void append(ColumnarBatch.Columns group, long batch, TimePartitions partitions, long nowMs) {
    columns.start(group);
    int count = group.size();
    long[] times = group.timeNs();
    for (int from = 0; from < count; ) {
      long number = partitions.number(times[from], nowMs);
      int to = partitions.endOfRun(times, from, count, number, nowMs);
      CopyBuffer buffer = byPartition.computeIfAbsent(number, this::newBuffer);
      long before = buffer.capacity();
      encode(group, from, to, batch, buffer);
      bytes += buffer.capacity() - before;
      from = to;
    }
  }

  private CopyBuffer newBuffer(long partition) {
    CopyBuffer buffer = new CopyBuffer(EventTable.COMMON_COLUMN_COUNT + columns.names().size(), pool);
    bytes += buffer.capacity();
    return buffer;
  }

  /** Returns the memory to the pool. */
  void release() {
    byPartition.values().forEach(CopyBuffer::release);
  }

  private void encode(ColumnarBatch.Columns group, int from, int to, long batch, CopyBuffer out) {
    if (template == null) {
      for (int i = from; i < to; i++) {
        encode(group, i, batch, out);
      }
      return;
    }
    for (int first = from, count; first < to; first += count) {
      count = out.addRows(template, to - first);
      set(group, first, count, batch, out);
      columns.set(first, count, out, out.firstRow() + COMMON_LENGTH, template.length);
    }
  }

  private void encode(ColumnarBatch.Columns group, int event, long batch, CopyBuffer out) {
    long timeNs = group.timeNs()[event];
    long micros = Math.floorDiv(timeNs, 1_000L);
    out.row();
    out.putMicros(micros);
    out.putLong(group.thread()[event]);
    out.putLong(batch);
    out.putInt(group.eventIndex()[event]);
    out.putShort((int) (timeNs - 1_000 * micros));
    out.putShort(version.number());
    columns.put(event, out);
  }

  /** As {@link #encode}, the common columns of rows that were copied from the template. */
  private void set(ColumnarBatch.Columns group, int first, int count, long batch, CopyBuffer out) {
    long[] times = group.timeNs();
    long[] threads = group.thread();
    int[] indexes = group.eventIndex();
    int at = out.firstRow();
    for (int i = first; i < first + count; i++, at += template.length) {
      long micros = Math.floorDiv(times[i], 1_000L);
      out.setMicros(at + 6, micros);
      out.setLong(at + 18, threads[i]);
      out.setLong(at + 30, batch);
      out.setInt(at + 42, indexes[i]);
      out.setShort(at + 50, (int) (times[i] - 1_000 * micros));
    }
  }

  /** Returns a row with the lengths of all values, and the version, which is the same for all. */
  private static byte[] template(List<Integer> lengths, int version) {
    int length = COMMON_LENGTH + lengths.stream().mapToInt(each -> 4 + each).sum();
    ByteBuffer row = ByteBuffer.allocate(length).putShort((short) (EventTable.COMMON_COLUMN_COUNT + lengths.size()));
    for (int common : new int[] {8, 8, 8, 4, 2}) {
      row.putInt(common).position(row.position() + common);
    }
    row.putInt(2).putShort((short) version);
    lengths.forEach(each -> row.putInt(each).position(row.position() + each));
    return row.array();
  }

  /** Returns the memory used, in bytes. */
  long bytes() {
    return bytes;
  }

  String dataTable() {
    return version.table().dataTable();
  }

  /** Returns the rows by partition number. */
  Map<Long, CopyBuffer> byPartition() {
    return byPartition;
  }

  /** Returns the columns of the rows, in order. */
  String columns() {
    return columns.names().stream()
        .map(column -> ", " + Sql.identifier(column)).collect(Collectors.joining("", EventTable.COMMON_COLUMNS, ""));
  }
}
