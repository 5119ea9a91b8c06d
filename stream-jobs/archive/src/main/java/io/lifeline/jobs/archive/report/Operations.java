package io.lifeline.jobs.archive.report;

import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.sql.ArchiveDatabase;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Pairs the events {@code X.start} and {@code X.end} of an archive. A start belongs to the end with equal (incarnation,
 * thread, id); where an id repeats, the first start to the first end.
 */
final class Operations {
  private Operations() {}

  /** The operations of each name {@code X} that has both events with a field {@code id}, ordered by start. */
  static Map<String, List<Operation>> read(ArchiveDatabase database) throws SQLException {
    Map<String, List<Operation>> operations = new LinkedHashMap<>();
    for (String type : database.eventTypes()) {
      String name = type.endsWith(".start") ? type.substring(0, type.length() - ".start".length()) : null;
      if (name != null && has(database, type, "id") && has(database, name + ".end", "id")) {
        List<Operation> pairs = pairs(database, name);
        if (!pairs.isEmpty()) {
          operations.put(name, pairs);
        }
      }
    }
    return operations;
  }

  /** Whether there is such an event type with such a field. */
  static boolean has(ArchiveDatabase database, String type, String field) throws SQLException {
    return database.viewOf(type) != null && database.columnsOf(type).contains(field);
  }

  private static List<Operation> pairs(ArchiveDatabase database, String name) throws SQLException {
    String end = name + ".end";
    String bytes = has(database, end, "nbytes") ? "TRY_CAST(e.nbytes AS BIGINT)" : "NULL";
    String sql = "SELECT s.id, row_number() OVER (PARTITION BY s.id ORDER BY s.ts),"
        + " s.incarnation || '-' || s.thread, epoch_ns(s.ts), epoch_ns(e.ts), coalesce(" + bytes + ", 0)"
        + " FROM " + numbered(database, name + ".start") + " s JOIN " + numbered(database, end) + " e"
        + " ON s.incarnation = e.incarnation AND s.thread = e.thread AND s.id = e.id AND s.nth = e.nth"
        + " WHERE e.ts >= s.ts ORDER BY s.ts";
    List<Operation> pairs = new ArrayList<>();
    try (PreparedStatement query = database.prepare(sql); ResultSet rows = query.executeQuery()) {
      while (rows.next()) {
        pairs.add(new Operation(rows.getString(1), rows.getLong(2), rows.getString(3).intern(), rows.getLong(4),
            rows.getLong(5), rows.getLong(6)));
      }
    }
    return pairs;
  }

  /** With ids as text, since nothing makes a start and its end declare them alike. */
  private static String numbered(ArchiveDatabase database, String type) {
    return "(SELECT * REPLACE (id::VARCHAR AS id),"
        + " row_number() OVER (PARTITION BY incarnation, thread, id::VARCHAR ORDER BY sequence, event_index) AS nth"
        + " FROM " + Sql.identifier(database.viewOf(type)) + ")";
  }
}
