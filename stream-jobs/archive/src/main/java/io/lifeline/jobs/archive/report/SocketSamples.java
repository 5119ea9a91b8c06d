package io.lifeline.jobs.archive.report;

import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.sql.ArchiveDatabase;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/** What {@code net.socket} events saw of the connections. */
final class SocketSamples {
  private SocketSamples() {}

  /** The unread bytes of each sample above none, by {@link #key}. */
  static Map<String, Long> unread(ArchiveDatabase database) throws SQLException {
    Map<String, Long> unread = new HashMap<>();
    if (!Operations.has(database, "net.socket", "unread") || !Operations.has(database, "net.socket", "id")) {
      return unread;
    }
    String sql = "SELECT incarnation || '-' || thread, id::VARCHAR, max(TRY_CAST(unread AS BIGINT)) FROM "
        + Sql.identifier(database.viewOf("net.socket")) + " WHERE TRY_CAST(unread AS BIGINT) > 0 GROUP BY ALL";
    try (PreparedStatement query = database.prepare(sql); ResultSet rows = query.executeQuery()) {
      while (rows.next()) {
        unread.put(key(rows.getString(1), rows.getString(2)), rows.getLong(3));
      }
    }
    return unread;
  }

  /**
   * @param actor incarnation and thread of who looked
   * @param id of the block that it had just moved
   */
  static String key(String actor, String id) {
    return actor + " " + id;
  }
}
