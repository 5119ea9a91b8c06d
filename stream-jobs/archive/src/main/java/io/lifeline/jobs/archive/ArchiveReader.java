package io.lifeline.jobs.archive;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;

/**
 * Read-only access to an archive, in the SQL dialect of its storage. The views have the same names and columns
 * everywhere; where the dialects differ, this interface provides the expressions. Used by one thread.
 */
public interface ArchiveReader extends AutoCloseable {

  /** Prepares a query. */
  PreparedStatement prepare(String sql) throws SQLException;

  /**
   * Cancels a {@link #prepare} that is running, which then fails: some archives read much in it. For other threads;
   * must be repeated until it has ended.
   */
  default void cancelPreparation() {}

  /** Is called between questions: nothing that a question has locked or broken may remain. */
  default void endQuestion() throws SQLException {}

  /** Returns the names of all event types. */
  Set<String> eventTypes() throws SQLException;

  /** Returns the name of an event type's view, or null if the type does not exist. */
  String viewOf(String eventType) throws SQLException;

  /** Returns whether any version of the event type has the field. */
  boolean has(String eventType, String field) throws SQLException;

  /**
   * Returns an SQL expression for the field's value as text, or null, in the view of a type that {@link #has} the
   * field.
   */
  String text(String eventType, String field) throws SQLException;

  /** As {@link #text}, with the value as a signed 64-bit number; null if it is not such a number. */
  String integer(String eventType, String field) throws SQLException;

  /** As {@link #text}, with the value as a floating-point number; null if it is not a number. */
  String real(String eventType, String field) throws SQLException;

  /**
   * Returns the fields that any version of the event type has, each once, under the names that {@link #has} knows;
   * empty if the type does not exist.
   */
  List<TypeEntry.FieldEntry> fields(String eventType) throws SQLException;

  /** Returns an SQL expression for the event's time in nanoseconds since 1970, in any type's view. */
  String timeNs();

  /**
   * Returns an SQL condition that is true of events in a span of time, in any type's view and in {@code events}. The
   * storage skips what lies outside, which it does not for comparisons with {@link #timeNs}.
   *
   * @param fromNs first nanosecond since 1970
   * @param toNs last nanosecond
   */
  String within(long fromNs, long toNs);

  /** Returns a span that has the newest so many events, or all, and not many more; few others are read to find it. */
  TimeSpan newest(long events) throws SQLException;

  /** Returns a table expression with the events of the view {@code events} in a span, for which little is read. */
  default String events(TimeSpan span) {
    return "(SELECT * FROM events WHERE " + within(span.fromNs(), span.toNs()) + ")";
  }

  /** As {@link #events}, with the events of the view of a type that exists. */
  default String eventsOf(String eventType, TimeSpan span) throws SQLException {
    return "(SELECT * FROM " + Sql.identifier(viewOf(eventType)) + " WHERE " + within(span.fromNs(), span.toNs()) + ")";
  }

  @Override
  void close() throws SQLException;
}
