package io.lifeline.jobs.archive;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Set;

/** Reads events from the rows of a query. */
public final class EventRows implements EventCursor {
  /** Order of the events, after their time: as emitted by a thread. */
  public static final String ORDER = "incarnation, route, sequence, event_index";

  /** Restores an event's type and values. */
  public interface Decoder {
    /**
     * @param type value of the query's second column
     * @return the type and the values of its members
     */
    Decoded decode(String type, String level, String fields) throws SQLException;
  }

  /** An event's type and the values of its members. */
  public record Decoded(ArchivedType type, Object[] values) {}

  private final PreparedStatement query;
  private final ResultSet rows;
  private final Set<String> types;
  private final Decoder decoder;

  /** @param query with the columns of {@link #columns}; closed with this cursor, also if it fails here */
  public EventRows(PreparedStatement query, Set<String> types, Decoder decoder) throws SQLException {
    this.query = query;
    this.types = types;
    this.decoder = decoder;
    try {
      this.rows = query.executeQuery();
    } catch (SQLException e) {
      query.close();
      throw e;
    }
  }

  /** Returns the columns to select from the view {@code events}. */
  public static String columns(String timeNs, String type) {
    return timeNs + ", " + type + ", level, host, program, pid, CAST(thread AS VARCHAR), incarnation, route,"
        + " CAST(sequence AS VARCHAR), event_index, CAST(fields AS VARCHAR)";
  }

  @Override
  public Set<String> types() {
    return types;
  }

  @Override
  public ArchivedEvent next() throws SQLException {
    if (!rows.next()) {
      return null;
    }
    Decoded decoded = decoder.decode(rows.getString(2), rows.getString(3), rows.getString(12));
    return new ArchivedEvent(rows.getLong(1), decoded.type(), rows.getString(4), rows.getString(5), rows.getLong(6),
        Long.parseUnsignedLong(rows.getString(7)), rows.getString(8), rows.getInt(9),
        Long.parseUnsignedLong(rows.getString(10)), rows.getLong(11), decoded.values());
  }

  @Override
  public void close() throws SQLException {
    query.close();
  }
}
