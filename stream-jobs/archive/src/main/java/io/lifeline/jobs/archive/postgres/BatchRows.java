package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Counter;
import io.lifeline.jobs.archive.Json;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.core.Position;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** The headers of the batches since the last roll, encoded for COPY. */
final class BatchRows {
  static final String COLUMNS = "batch, partition, \"offset\", broker_time, incarnation, route, route_name, sequence,"
      + " host, program, pid, events, final, recovered, clock_uncertain, crc, context, "
      + Arrays.stream(Counter.values()).map(Counter::label).collect(Collectors.joining(", "));

  private static final int COLUMN_COUNT = 17 + Counter.values().length;

  /** Number of low bits that hold the offset; events refer to their batch by this single number. */
  private static final int OFFSET_BITS = 48;

  private final CopyBuffer rows;
  private int count;

  BatchRows(CopySegments pool) {
    rows = new CopyBuffer(COLUMN_COUNT, pool);
  }

  /** Returns the number of the batch at a position, unique within an archive. */
  static long number(Position position) {
    if (position.offset() >>> OFFSET_BITS != 0 || position.partition() >>> (63 - OFFSET_BITS) != 0) {
      throw new IllegalArgumentException(
          "the archive takes 32,768 partitions of 2^48 messages, and this is " + position);
    }
    return (long) position.partition() << OFFSET_BITS | position.offset();
  }

  void add(BatchReader batch, String incarnation, Position position) {
    rows.row();
    rows.putLong(number(position));
    rows.putInt(position.partition());
    rows.putLong(position.offset());
    rows.putMicros(1_000 * position.brokerTimeMs());
    rows.putText(incarnation);
    rows.putInt(batch.route());
    rows.putText(batch.routeName());
    rows.putUnsigned(batch.sequence());
    rows.putText(batch.host());
    rows.putText(batch.program());
    rows.putLong(batch.pid());
    rows.putInt(batch.eventCount());
    rows.putBool(batch.isFinal());
    rows.putBool(batch.isRecovered());
    rows.putBool((batch.flags() & 4) != 0);
    rows.putLong(Integer.toUnsignedLong(batch.crc()));
    rows.putJson(context(batch));
    for (Counter counter : Counter.values()) {
      rows.putUnsigned(batch.counter(counter));
    }
    count++;
  }

  private static String context(BatchReader batch) {
    Map<String, String> clean = new LinkedHashMap<>();
    batch.context().forEach((key, value) -> clean.put(Sql.clean(key), Sql.clean(value)));
    return Json.object(clean);
  }

  /** Returns the memory to the pool. */
  void release() {
    rows.release();
  }

  int count() {
    return count;
  }

  /** Returns the memory used, in bytes. */
  long bytes() {
    return rows.capacity();
  }

  CopyBuffer rows() {
    return rows;
  }
}
