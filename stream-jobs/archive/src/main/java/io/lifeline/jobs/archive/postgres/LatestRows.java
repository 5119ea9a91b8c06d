package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.core.JsonWriter;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The newest event of each type and emitter. Its values are kept unencoded and become JSON only when they are stored,
 * because the next batch replaces most of them.
 */
final class LatestRows {
  /** Memory of an entry without its values. */
  private static final long ENTRY_BYTES = 400;

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
    if (isNewest(key, timeNs)) {
      put(key, new Entry(EventValues.of(version, group, newest), timeNs, batch.host(), batch.program(),
          batch.sequence(), group.eventIndex()[newest]));
    }
  }

  /** Adds rows that were received later. */
  void addAll(LatestRows later) {
    later.entries.forEach((key, entry) -> {
      if (isNewest(key, entry.timeNs())) {
        put(key, entry);
      }
    });
  }

  private boolean isNewest(Key key, long timeNs) {
    Entry known = entries.get(key);
    return known == null || known.timeNs() <= timeNs;
  }

  private void put(Key key, Entry entry) {
    Entry before = entries.put(key, entry);
    valueBytes += entry.values().bytes() - (before == null ? 0 : before.values().bytes());
  }

  void clear() {
    entries.clear();
    valueBytes = 0;
  }

  int count() {
    return entries.size();
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

  static Upserts.Table table(Schema schema) {
    return Upserts.Table.of(schema.own("latest"), "staged_latest", COLUMNS, 2, "old.ts_ns <= new.ts_ns");
  }

  /** Stores the rows, unless there are newer ones. */
  void store(Upserts upserts, Upserts.Table table) throws SQLException {
    upserts.store(table, ordered(), LatestRows::row);
  }

  /** Returns the rows as an array of arrays, for {@link #fromJson}. */
  String json() {
    JsonWriter json = new JsonWriter().beginArray();
    entries.forEach((key, entry) -> {
      json.beginArray().value(key.type()).value(key.incarnation().toString()).value(entry.timeNs())
          .value(entry.values().version().type().level()).value(Sql.clean(entry.host()))
          .value(Sql.clean(entry.program())).valueUnsigned(entry.sequence()).value(entry.eventIndex())
          .value(entry.values().id());
      entry.values().writeTo(json);
      json.endArray();
    });
    return json.endArray().toString();
  }

  /** Returns SQL for the newest of the rows in texts made by {@link #json}, in the order of their keys. */
  static String fromJson(String table, String text, String order, String condition) {
    String key = "(v->>0) COLLATE \"C\", (v->>1) COLLATE \"C\"";
    return "(SELECT DISTINCT ON (" + key + ") v->>0 AS type, v->>1 AS incarnation, 'epoch'::timestamptz"
        + " + floor((v->>2)::numeric / 1000)::float8 * interval '1 microsecond' AS ts, (v->>2)::bigint AS ts_ns,"
        + " v->>3 AS level, v->>4 AS host, v->>5 AS program, (v->>6)::numeric AS sequence,"
        + " (v->>7)::integer AS event_index, v->>8 AS id, (v->9)::jsonb AS fields FROM " + table
        + ", json_array_elements(" + text + "::json) AS r (v) WHERE " + condition + " ORDER BY " + key
        + ", (v->>2)::bigint DESC, " + order + " DESC)";
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
