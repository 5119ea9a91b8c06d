package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.EventCursor;
import java.io.IOException;
import java.sql.SQLException;

/** Writes events in the format of another tool. Used once. */
public interface EventFormat {

  /** Writes all events; the caller commits the output. */
  void write(EventCursor events, Output output, Counts counts) throws IOException, SQLException;
}
