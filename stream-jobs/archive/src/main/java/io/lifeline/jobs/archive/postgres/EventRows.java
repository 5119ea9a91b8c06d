package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Utf8;
import io.lifeline.jobs.archive.Sql;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The events of one type since the last roll, encoded for COPY, separately for each partition of the table. */
final class EventRows {
  /** Memory charged per type in addition to its rows. It limits how many tables one transaction locks. */
  static final long OVERHEAD_BYTES = 8_192;

  private final EventTable.Version version;
  private final FieldType[] fields;
  private final long[][] longs;
  private final double[][] doubles;
  private final CopySegments pool;
  private final Map<Long, CopyBuffer> byPartition = new TreeMap<>();
  private long bytes = OVERHEAD_BYTES;

  EventRows(EventType type, EventTable.Version version, CopySegments pool) {
    this.version = version;
    this.pool = pool;
    this.fields = type.fields().stream().map(field -> field.type()).toArray(FieldType[]::new);
    this.longs = new long[fields.length][];
    this.doubles = new double[fields.length][];
  }

  /** Appends the events of a batch. */
  void append(ColumnarBatch.Columns group, long batch, TimePartitions partitions, long nowMs) {
    for (int field = 0; field < fields.length; field++) {
      longs[field] = fields[field].isIntegral() ? group.longs(field) : null;
      doubles[field] = fields[field].isFloating() ? group.doubles(field) : null;
    }
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
    CopyBuffer buffer = new CopyBuffer(EventTable.COMMON_COLUMN_COUNT + fields.length, pool);
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
    for (int field = 0; field < fields.length; field++) {
      switch (fields[field]) {
        case I32 -> out.putInt((int) longs[field][event]);
        case I64, U32 -> out.putLong(longs[field][event]);
        case U64 -> out.putUnsigned(longs[field][event]);
        case BOOL -> out.putBool(longs[field][event] != 0);
        case F32 -> out.putFloat((float) doubles[field][event]);
        case F64 -> out.putDouble(doubles[field][event]);
        case BYTES -> out.putBytes(group.raw(), group.offsets(field)[event], group.lengths(field)[event]);
        case STRING -> putString(group.raw(), group.offsets(field)[event], group.lengths(field)[event], out);
      }
    }
  }

  private static void putString(byte[] raw, int offset, int length, CopyBuffer out) {
    if (Utf8.isWellFormed(raw, offset, length) && !holdsNul(raw, offset, length)) {
      out.putBytes(raw, offset, length);
    } else {
      byte[] repaired = Sql.clean(Utf8.decode(raw, offset, length)).getBytes(StandardCharsets.UTF_8);
      out.putBytes(repaired, 0, repaired.length);
    }
  }

  private static boolean holdsNul(byte[] raw, int offset, int length) {
    for (int i = offset; i < offset + length; i++) {
      if (raw[i] == 0) {
        return true;
      }
    }
    return false;
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
    return version.fieldColumns().stream()
        .map(column -> ", " + Sql.identifier(column)).collect(Collectors.joining("", EventTable.COMMON_COLUMNS, ""));
  }
}
