package io.lifeline.jobs.archive.report;

import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.Sql;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Pairs the events {@code X.start} and {@code X.end} of an archive by (incarnation, thread, id); if an id repeats, the
 * first start belongs to the first end, and so on.
 */
final class Operations {
  private Operations() {}

  /**
   * Returns the operations of each name {@code X} that has both events with a field {@code id}, ordered by start.
   *
   * @param where SQL condition on the events' origin
   */
  static Map<String, List<Operation>> read(ArchiveReader archive, String where) throws SQLException {
    Map<String, List<Operation>> operations = new LinkedHashMap<>();
    for (String type : archive.eventTypes()) {
      String name = type.endsWith(".start") ? type.substring(0, type.length() - ".start".length()) : null;
      if (name != null && archive.has(type, "id") && archive.has(name + ".end", "id")) {
        List<Operation> pairs = pairs(archive, name, where);
        if (!pairs.isEmpty()) {
          operations.put(name, pairs);
        }
      }
    }
    return operations;
  }

  private static List<Operation> pairs(ArchiveReader archive, String name, String where) throws SQLException {
    String sql = "SELECT s.id, row_number() OVER (PARTITION BY s.id, b.session ORDER BY s.ns), s.ns, e.ns,"
        + " coalesce(e.nbytes, 0), coalesce(e.nbytes, e.value, 0), s.incarnation, s.incarnation || '-' || s.thread,"
        + " b.session, b.program"
        + " FROM " + numbered(archive, name + ".start", where) + " s"
        + " JOIN " + numbered(archive, name + ".end", where) + " e"
        + " ON s.incarnation = e.incarnation AND s.thread = e.thread AND s.id = e.id AND s.nth = e.nth"
        + " LEFT JOIN " + Report.ORIGINS + " b"
        + " ON b.incarnation = e.incarnation AND b.route = e.route AND b.sequence = e.sequence"
        + " WHERE e.ns >= s.ns ORDER BY s.ns";
    List<Operation> pairs = new ArrayList<>();
    Map<Operation.Origin, Operation.Origin> origins = new HashMap<>();
    try (PreparedStatement query = archive.prepare(sql); ResultSet rows = query.executeQuery()) {
      while (rows.next()) {
        Operation.Origin origin =
            new Operation.Origin(rows.getString(7), rows.getString(8), rows.getString(9), rows.getString(10));
        Operation.Origin shared = origins.computeIfAbsent(origin, same -> same);
        pairs.add(new Operation(rows.getString(1), rows.getLong(2), shared, rows.getLong(3), rows.getLong(4),
            rows.getLong(5), rows.getDouble(6)));
      }
    }
    return pairs;
  }

  /** Returns SQL with ids as text, because a start and its end may declare them with different types. */
  private static String numbered(ArchiveReader archive, String type, String where) throws SQLException {
    String id = archive.text(type, "id");
    String nbytes = archive.has(type, "nbytes") ? archive.integer(type, "nbytes") : "NULL::BIGINT";
    String value = archive.has(type, "value") ? archive.real(type, "value") : "NULL::DOUBLE PRECISION";
    return "(SELECT incarnation, route, sequence, thread, " + id + " AS id, " + archive.timeNs() + " AS ns, " + nbytes
        + " AS nbytes, " + value + " AS value,"
        + " row_number() OVER (PARTITION BY incarnation, thread, " + id + " ORDER BY sequence, event_index) AS nth"
        + " FROM " + Sql.identifier(archive.viewOf(type)) + " WHERE " + where + ")";
  }
}
