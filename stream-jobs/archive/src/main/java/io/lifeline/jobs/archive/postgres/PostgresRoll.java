package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.EventType;
import io.lifeline.jobs.archive.RouteEntry;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.RouteKey;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;
import org.postgresql.copy.CopyManager;

/** Data that a partition has buffered since its last transaction. */
final class PostgresRoll {
  private final Map<EventType, EventRows> types = new LinkedHashMap<>();
  private final BatchRows batches;
  private final LatestRows latest = new LatestRows();
  private final Map<RouteKey, RouteEntry.Builder> routes = new LinkedHashMap<>();
  private final CopySegments pool;
  private long typeBytes;

  /** @param pool memory pool */
  PostgresRoll(CopySegments pool) {
    this.pool = pool;
    this.batches = new BatchRows(pool);
  }

  void add(BatchReader batch, ColumnarBatch events, RouteKey route, Position position, Catalog catalog,
      TimePartitions partitions, long nowMs) {
    String incarnation = batch.incarnation().toString();
    long number = BatchRows.number(position);
    for (ColumnarBatch.Columns group : events.groups()) {
      EventTable.Version version = catalog.version(group.type());
      EventRows rows = types.get(group.type());
      long before = 0;
      if (rows == null) {
        rows = new EventRows(group.type(), version, pool);
        types.put(group.type(), rows);
      } else {
        before = rows.bytes();
      }
      rows.append(group, number, partitions, nowMs);
      typeBytes += rows.bytes() - before;
      latest.add(batch, group, version);
    }
    batches.add(batch, incarnation, position);
    routes.computeIfAbsent(route, key -> new RouteEntry.Builder()).add(batch, position.brokerTimeMs());
  }

  /** Returns the memory to the pool; the roll must not be used afterwards. */
  void release() {
    types.values().forEach(EventRows::release);
    batches.release();
  }

  /** Returns the memory used, in bytes. */
  long bytes() {
    return typeBytes + batches.bytes() + latest.bytes();
  }

  LatestRows latest() {
    return latest;
  }

  List<RouteEntry> routeEntries() {
    return routes.values().stream().map(RouteEntry.Builder::build).toList();
  }

  /** Creates the partitions that the rows need. */
  void prepare(TimePartitions partitions) throws SQLException {
    List<TimePartitions.Place> places = new ArrayList<>();
    for (EventRows rows : types.values()) {
      rows.byPartition().keySet().forEach(
          number -> places.add(new TimePartitions.Place(rows.dataTable(), number)));
    }
    partitions.prepare(places);
  }

  /**
   * Writes the events and batches. Events go directly into the partitions: routing each one through the table costs the
   * server a tenth.
   */
  void copy(Connection connection, Schema schema, TimePartitions partitions) throws SQLException {
    CopyManager copies = connection.unwrap(PGConnection.class).getCopyAPI();
    for (EventRows rows : types.values()) {
      String columns = rows.columns();
      for (Map.Entry<Long, CopyBuffer> part : rows.byPartition().entrySet()) {
        String target = partitions.target(new TimePartitions.Place(rows.dataTable(), part.getKey()));
        copy(copies, schema.data(target), columns, part.getValue());
      }
    }
    if (batches.count() > 0) {
      copy(copies, schema.own("batches"), BatchRows.COLUMNS, batches.rows());
    }
  }

  private static void copy(CopyManager copies, String table, String columns, CopyBuffer rows) throws SQLException {
    CopyIn copy = copies.copyIn("COPY " + table + " (" + columns + ") FROM STDIN (FORMAT binary)");
    try {
      rows.sendTo(copy);
      copy.endCopy();
    } finally {
      if (copy.isActive()) {
        copy.cancelCopy();
      }
    }
  }
}
