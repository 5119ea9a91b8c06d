package io.lifeline.jobs.archive.parquet;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.EventType;
import io.lifeline.jobs.archive.RouteEntry;
import io.lifeline.jobs.archive.TypeEntry;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.RouteKey;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Data that a partition has buffered since its last manifest. */
final class Roll {

  private final Map<EventType, TypeRows> types = new LinkedHashMap<>();
  private final BatchRows batches = new BatchRows();
  private final Map<RouteKey, RouteEntry.Builder> routes = new LinkedHashMap<>();
  private long typeBytes;
  private long receivedMs;

  void add(BatchReader batch, ColumnarBatch columns, RouteKey route, Position position) {
    int place = batches.add(batch, position);
    for (ColumnarBatch.Columns group : columns.groups()) {
      TypeRows rows = types.get(group.type());
      long before = 0;
      if (rows == null) {
        rows = new TypeRows(group.type());
        types.put(group.type(), rows);
      } else {
        before = rows.bytes();
      }
      rows.append(group, place);
      typeBytes += rows.bytes() - before;
    }
    receivedMs = Math.max(receivedMs, position.brokerTimeMs());
    routes.computeIfAbsent(route, key -> new RouteEntry.Builder()).add(batch, position.brokerTimeMs());
  }

  /** Returns the memory used, in bytes. */
  long bytes() {
    return typeBytes + batches.bytes();
  }

  List<TypeRows> frequentTypes(int rareRows) {
    return types.values().stream().filter(type -> !type.isRare(rareRows)).toList();
  }

  List<TypeRows> rareTypes(int rareRows) {
    return types.values().stream().filter(type -> type.isRare(rareRows)).toList();
  }

  List<TypeEntry> typeEntries() {
    return types.keySet().stream().map(TypeEntry::of).toList();
  }

  /** Returns when the broker stored the newest of the messages. */
  long receivedMs() {
    return receivedMs;
  }

  BatchRows batches() {
    return batches;
  }

  List<RouteEntry> routeEntries() {
    return routes.values().stream().map(RouteEntry.Builder::build).toList();
  }
}
