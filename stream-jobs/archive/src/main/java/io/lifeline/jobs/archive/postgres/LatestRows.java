package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Utf8;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.TypeEntry;
import io.lifeline.jobs.core.JsonWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The newest event of each type and emitter since the last roll. Its values are kept unencoded and become JSON once per
 * roll, because the next batch replaces most of them.
 */
final class LatestRows {
  /** Memory of an entry without its long values. */
  private static final long ENTRY_BYTES = 500;

  /** Ordered, so that two writers that update the same rows cannot deadlock. */
  private record Key(String type, String incarnation) implements Comparable<Key> {
    private static final Comparator<Key> ORDER =
        Comparator.comparing(Key::type).thenComparing(Key::incarnation);

    @Override
    public int compareTo(Key other) {
      return ORDER.compare(this, other);
    }
  }

  /** Builds JSON from names and floats as the views do: the server formats floats. */
  private static final String FLOATS = "(SELECT coalesce(jsonb_object_agg(name, value), '{}') FROM"
      + " unnest(r.%1$s_names::text[], r.%1$s_values::%2$s[]) AS f (name, value))";

  private static final String COLUMNS = "type, incarnation, ts_us, ts_ns, level, host, program, sequence, event_index,"
      + " id_f32, id_f64, id, fields, f32_names, f32_values, f64_names, f64_values";

  private record Entry(EventTable.Version version, EventType type, long timeNs, String host, String program,
      long sequence, int eventIndex, Object[] values) {}

  private final Map<Key, Entry> entries = new TreeMap<>();
  private long valueBytes;

  void add(BatchReader batch, String incarnation, ColumnarBatch.Columns group, EventTable.Version version) {
    int newest = newest(group);
    long timeNs = group.timeNs()[newest];
    Key key = new Key(version.table().name(), incarnation);
    Entry before = entries.get(key);
    if (before != null && before.timeNs() > timeNs) {
      return;
    }
    Object[] values = new Object[group.type().fields().size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = value(group, i, newest);
    }
    valueBytes += bytes(values) - (before == null ? 0 : bytes(before.values()));
    entries.put(key, new Entry(version, group.type(), timeNs, batch.host(), batch.program(), batch.sequence(),
        group.eventIndex()[newest], values));
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

  private static Object value(ColumnarBatch.Columns group, int field, int event) {
    FieldType type = group.type().fields().get(field).type();
    if (type.isVariable()) {
      int offset = group.offsets(field)[event];
      return Arrays.copyOfRange(group.raw(), offset, offset + group.lengths(field)[event]);
    }
    return type.isFloating() ? (Object) group.doubles(field)[event] : (Object) group.longs(field)[event];
  }

  private static long bytes(Object[] values) {
    long sum = 0;
    for (Object value : values) {
      sum += value instanceof byte[] bytes ? bytes.length : 0;
    }
    return sum;
  }

  /** Returns the memory used, in bytes. */
  long bytes() {
    return ENTRY_BYTES * entries.size() + valueBytes;
  }

  void store(Connection connection, Schema schema) throws SQLException {
    RowArrays rows = new RowArrays("text", "text", "bigint", "bigint", "text", "text", "text", "numeric", "integer",
        "real", "double precision", "text", "text", "text", "text", "text", "text");
    for (Map.Entry<Key, Entry> latest : entries.entrySet()) {
      Entry entry = latest.getValue();
      int field = entry.version().type().idField();
      FieldType id = field < 0 ? null : entry.type().fields().get(field).type();
      Object value = field < 0 ? null : entry.values()[field];
      Floats f32 = floats(connection, entry, FieldType.F32);
      Floats f64 = floats(connection, entry, FieldType.F64);
      rows.add(latest.getKey().type(), latest.getKey().incarnation(), Math.floorDiv(entry.timeNs(), 1_000),
          entry.timeNs(), entry.type().level().label(), Sql.clean(entry.host()), Sql.clean(entry.program()),
          Long.toUnsignedString(entry.sequence()), entry.eventIndex(),
          id == FieldType.F32 ? ((Double) value).floatValue() : null, id == FieldType.F64 ? value : null,
          id == null || id.isFloating() ? null : text(id, value), json(entry), f32.names(), f32.values(), f64.names(),
          f64.values());
    }
    rows.execute(connection, "INSERT INTO " + schema.own("latest") + " AS l SELECT type, incarnation,"
        + " 'epoch'::timestamptz + ts_us * interval '1 microsecond', ts_ns, level, host, program, sequence,"
        + " event_index, coalesce(id_f32::text, id_f64::text, id), CASE WHEN f32_names IS NULL AND f64_names IS NULL"
        + " THEN fields::jsonb ELSE fields::jsonb || " + FLOATS.formatted("f32", "real") + " || "
        + FLOATS.formatted("f64", "double precision") + " END FROM " + rows.source(COLUMNS)
        + " ON CONFLICT (type, incarnation) DO UPDATE SET ts = excluded.ts, ts_ns = excluded.ts_ns, level ="
        + " excluded.level, host = excluded.host, program = excluded.program, sequence = excluded.sequence,"
        + " event_index = excluded.event_index, id = excluded.id, fields = excluded.fields"
        + " WHERE l.ts_ns <= excluded.ts_ns");
  }

  /** Names and values as arrays' literals, null without any: arrays of arrays would have to be of one length. */
  private record Floats(String names, String values) {}

  private static Floats floats(Connection connection, Entry entry, FieldType type) throws SQLException {
    List<String> names = new ArrayList<>();
    List<Object> values = new ArrayList<>();
    for (int i = 0; i < entry.values().length; i++) {
      if (entry.type().fields().get(i).type() == type) {
        names.add(entry.version().columns().get(i));
        Double value = (Double) entry.values()[i];
        values.add(type == FieldType.F32 ? (Object) value.floatValue() : value);
      }
    }
    return names.isEmpty() ? new Floats(null, null)
        : new Floats(connection.createArrayOf("text", names.toArray()).toString(), values.stream().map(Object::toString)
            .collect(Collectors.joining(",", "{", "}")));
  }

  private static String text(FieldType type, Object value) {
    return switch (type) {
      case STRING -> Sql.clean(Utf8.decode((byte[]) value, 0, ((byte[]) value).length));
      case BYTES -> "\\x" + HexFormat.of().formatHex((byte[]) value);
      case U64 -> Long.toUnsignedString((Long) value);
      case BOOL -> Boolean.toString((Long) value != 0);
      default -> value.toString();
    };
  }

  /** Returns JSON as in the view over all events, but without floats. */
  private static String json(Entry entry) {
    JsonWriter json = new JsonWriter().beginObject();
    List<String> columns = entry.version().columns();
    int fields = entry.values().length;
    for (int i = 0; i < fields; i++) {
      FieldType type = entry.type().fields().get(i).type();
      Object value = entry.values()[i];
      if (type.isFloating()) {
        continue;
      }
      json.name(columns.get(i));
      switch (type) {
        case STRING, BYTES -> json.value(text(type, value));
        case BOOL -> json.value((Long) value != 0);
        case U64 -> json.valueUnsigned((Long) value);
        default -> json.value((Long) value);
      }
    }
    List<TypeEntry.ConstantEntry> constants = entry.version().type().constants();
    for (int i = 0; i < constants.size(); i++) {
      json.name(columns.get(fields + i));
      PostgresJson.constant(json, constants.get(i));
    }
    return json.endObject().toString();
  }
}
