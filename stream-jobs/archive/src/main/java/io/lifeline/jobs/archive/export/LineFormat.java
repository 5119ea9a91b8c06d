package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.EventCursor;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;

/** A text format with a line, or a similar piece of text, per event. */
abstract class LineFormat implements EventFormat {
  private static final int BUFFER_CHARS = 1 << 16;

  @Override
  public final void write(EventCursor events, Output output, Counts counts) throws IOException, SQLException {
    try (Writer out =
        new BufferedWriter(new OutputStreamWriter(output.stream(), StandardCharsets.UTF_8), BUFFER_CHARS)) {
      out.write(head());
      StringBuilder line = new StringBuilder();
      for (ArchivedEvent event = events.next(); event != null; event = events.next()) {
        line.setLength(0);
        append(line, event);
        out.append(line);
      }
      out.write(foot());
    }
  }

  /** Returns the text before the first event. */
  String head() {
    return "";
  }

  /** Appends the text of an event, with the end of its line. */
  abstract void append(StringBuilder line, ArchivedEvent event);

  /** Returns the text after the last event. */
  String foot() {
    return "";
  }
}
