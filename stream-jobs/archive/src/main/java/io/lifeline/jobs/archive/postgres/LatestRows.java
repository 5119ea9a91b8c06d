package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The newest event of each type and emitter since the last roll. Its values are kept unencoded and become JSON once per
 * roll, because the next batch replaces most of them.
 */
final class LatestRows {
  /** Memory of an entry without its long values. */
  private static final long ENTRY_BYTES = 500;

  private record Key(String type, Incarnation incarnation) {
    static final Comparator<Key> ORDER = Comparator.comparing(Key::type).thenComparing(Key::incarnation);
  }

  private static final String COLUMNS =
      "type, incarnation, ts_us, ts_ns, level, host, program, sequence, event_index, id, fields";

  private record Entry(EventValues values, long timeNs, String host, String program, long sequence, int eventIndex) {}

  private final Map<Key, Entry> entries = new HashMap<>();
  private long valueBytes;

  void add(BatchReader batch, ColumnarBatch.Columns group, EventTable.Version version) {
    int newest = newest(group);
    long timeNs = group.timeNs()[newest];
    Key key = new Key(version.table().name(), batch.incarnation());
    Entry before = entries.get(key);
    if (before != null && before.timeNs() > timeNs) {
      return;
    }
    EventValues values = EventValues.of(version, group, newest);
    valueBytes += values.bytes() - (before == null ? 0 : before.values().bytes());
    entries.put(key, new Entry(values, timeNs, batch.host(), batch.program(), batch.sequence(),
        group.eventIndex()[newest]));
  }

  private static int newest(ColumnarBatch.Columns group) {
    long[] times = group.timeNs();
    int newest = 0;
    for (int i = 1; i < group.size(); i++) {
      if (times[i] >= times[newest]) {
        newest = i;
      }
    }
    return newest;
  }

  /** Returns the memory used, in bytes. */
  long bytes() {
    return ENTRY_BYTES * entries.size() + valueBytes;
  }

  /** Stores the rows in order, so that two writers that update the same ones cannot deadlock. */
  void store(Connection connection, Schema schema) throws SQLException {
    RowArrays rows = new RowArrays("text", "text", "bigint", "bigint", "text", "text", "text", "numeric", "integer",
        "text", "text");
    for (Map.Entry<Key, Entry> latest : ordered()) {
      Entry entry = latest.getValue();
      rows.add(latest.getKey().type(), latest.getKey().incarnation().toString(),
          Math.floorDiv(entry.timeNs(), 1_000), entry.timeNs(), entry.values().version().type().level(),
          Sql.clean(entry.host()), Sql.clean(entry.program()), Long.toUnsignedString(entry.sequence()),
          entry.eventIndex(), entry.values().id(), entry.values().json());
    }
    rows.execute(connection, "INSERT INTO " + schema.own("latest") + " AS l SELECT type, incarnation,"
        + " 'epoch'::timestamptz + ts_us * interval '1 microsecond', ts_ns, level, host, program, sequence,"
        + " event_index, id, fields::jsonb FROM " + rows.source(COLUMNS)
        + " ON CONFLICT (type, incarnation) DO UPDATE SET ts = excluded.ts, ts_ns = excluded.ts_ns, level ="
        + " excluded.level, host = excluded.host, program = excluded.program, sequence = excluded.sequence,"
        + " event_index = excluded.event_index, id = excluded.id, fields = excluded.fields"
        + " WHERE l.ts_ns <= excluded.ts_ns");
  }

  private List<Map.Entry<Key, Entry>> ordered() {
    return entries.entrySet().stream().sorted(Map.Entry.comparingByKey(Key.ORDER)).toList();
  }
}
