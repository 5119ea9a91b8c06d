package io.lifeline.jobs.archive;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Set;

/**
 * An archive to ask questions of, in the SQL of whatever it lies in; nothing can be changed through it. Its views have
 * the same names and columns everywhere; where the dialects differ, this gives the pieces. Used by one thread.
 */
public interface ArchiveReader extends AutoCloseable {

  /** Prepares a query. */
  PreparedStatement prepare(String sql) throws SQLException;

  /** The names of all event types. */
  Set<String> eventTypes() throws SQLException;

  /** The name of the view of an event type, or null if there is no such type. */
  String viewOf(String eventType) throws SQLException;

  /** Whether there is such an event type, and a version of it with such a field. */
  boolean has(String eventType, String field) throws SQLException;

  /** A piece of SQL, for the view of a type that {@link #has} the field: its value as text, or null. */
  String text(String eventType, String field) throws SQLException;

  /** As {@link #text}: its value as a number of 64 bits with a sign, null also where it is no such number. */
  String integer(String eventType, String field) throws SQLException;

  /** A piece of SQL for the view of any type: the event's time in nanoseconds since 1970. */
  String timeNs();

  @Override
  void close() throws SQLException;
}
