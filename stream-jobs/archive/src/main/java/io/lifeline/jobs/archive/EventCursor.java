package io.lifeline.jobs.archive;

import java.sql.SQLException;
import java.util.Set;

/** The events of a selection in order of time. Used by one thread at a time. */
public interface EventCursor extends AutoCloseable {

  /** Returns the names of the types that the events may have. */
  Set<String> types();

  /** Returns the next event, or null after the last one. */
  ArchivedEvent next() throws SQLException;

  @Override
  void close() throws SQLException;
}
