package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.Sql;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
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

  private static final String COLUMNS = "type text, incarnation text, ts timestamptz, ts_ns bigint, level text,"
      + " host text, program text, sequence numeric, event_index integer, id text, fields jsonb";

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

  /** Stores the rows, unless there are newer ones. */
  void store(Upserts upserts, Schema schema) throws SQLException {
    upserts.store(Upserts.Table.of(schema.own("latest"), "staged_latest", COLUMNS, 2, "old.ts_ns <= new.ts_ns"),
        ordered(), LatestRows::row);
  }

  private List<Map.Entry<Key, Entry>> ordered() {
    return entries.entrySet().stream().sorted(Map.Entry.comparingByKey(Key.ORDER)).toList();
  }

  private static Object[] row(Map.Entry<Key, Entry> latest) {
    Entry entry = latest.getValue();
    return new Object[] {latest.getKey().type(), latest.getKey().incarnation().toString(), time(entry.timeNs()),
        entry.timeNs(), entry.values().version().type().level(), Sql.clean(entry.host()), Sql.clean(entry.program()),
        Long.toUnsignedString(entry.sequence()), entry.eventIndex(), entry.values().id(), entry.values().json()};
  }

  private static Instant time(long ns) {
    return Instant.EPOCH.plus(Math.floorDiv(ns, 1_000L), ChronoUnit.MICROS);
  }
}
