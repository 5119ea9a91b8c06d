package io.lifeline.jobs.archive.report;

import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.Sql;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/** Reads the samples of {@code net.socket} events. */
final class SocketSamples {
  private static final String TYPE = "net.socket";

  private SocketSamples() {}

  /**
   * Returns the unread bytes of each sample that has any, by {@link #key}.
   *
   * @param where SQL condition on the events' origin
   */
  static Map<String, Long> unread(ArchiveReader archive, String where) throws SQLException {
    Map<String, Long> unread = new HashMap<>();
    if (!archive.has(TYPE, "unread") || !archive.has(TYPE, "id")) {
      return unread;
    }
    String sql = "SELECT incarnation || '-' || thread, id, max(unread) FROM (SELECT incarnation, thread, "
        + archive.text(TYPE, "id") + " AS id, " + archive.integer(TYPE, "unread") + " AS unread FROM "
        + Sql.identifier(archive.viewOf(TYPE)) + " WHERE " + where
        + ") s WHERE unread > 0 GROUP BY incarnation, thread, id";
    try (PreparedStatement query = archive.prepare(sql); ResultSet rows = query.executeQuery()) {
      while (rows.next()) {
        unread.put(key(rows.getString(1), rows.getString(2)), rows.getLong(3));
      }
    }
    return unread;
  }

  /**
   * Returns the key of a sample.
   *
   * @param actor incarnation and thread that took the sample
   * @param id ID of the block that it had just transferred
   */
  static String key(String actor, String id) {
    return actor + " " + id;
  }
}
