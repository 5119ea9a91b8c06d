package io.lifeline.jobs.archive;

import java.sql.SQLException;
import java.util.Set;

/**
 * Reads all events of an archive in order of time, in bounded memory. For queries see {@link ArchiveReader}.
 */
public interface EventReader extends AutoCloseable {

  /** Returns the names of the event types. */
  Set<String> eventTypes() throws SQLException;

  /** Returns the selected events; at most one cursor may be open. */
  EventCursor read(EventSelection selection) throws SQLException;

  @Override
  void close() throws SQLException;
}
