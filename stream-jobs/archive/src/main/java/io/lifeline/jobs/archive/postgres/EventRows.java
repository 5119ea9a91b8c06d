package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.EventType;
import io.lifeline.jobs.archive.Sql;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The events of one type since the last roll, encoded for COPY, separately for each partition of the table. */
final class EventRows {
  /** Memory charged per type in addition to its rows. It limits how many tables one transaction locks. */
  static final long OVERHEAD_BYTES = 8_192;

  private final EventTable.Version version;
  private final TypeColumns columns;
  private final CopySegments pool;
  private final Map<Long, CopyBuffer> byPartition = new TreeMap<>();
  private long bytes = OVERHEAD_BYTES;

  EventRows(EventType type, EventTable.Version version, CopySegments pool) {
    this.version = version;
    this.pool = pool;
    this.columns = version.table().isShared() ? new SharedColumns(version) : new OwnColumns(type, version);
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
      for (int i = from; i < to; i++) {
        encode(group, i, batch, buffer);
      }
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
