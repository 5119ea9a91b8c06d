package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.EventCursor;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.sql.SQLException;
import java.util.function.BiFunction;

/** Writes events as a {@link Timeline}. */
final class TimelineFormat implements EventFormat {
  private static final int BUFFER_BYTES = 1 << 16;

  private final ExportOptions options;
  private final BiFunction<OutputStream, TraceClock, TimelineSink> sinks;

  TimelineFormat(ExportOptions options, BiFunction<OutputStream, TraceClock, TimelineSink> sinks) {
    this.options = options;
    this.sinks = sinks;
  }

  @Override
  public void write(EventCursor events, Output output, Counts counts) throws IOException, SQLException {
    try (OutputStream out = new BufferedOutputStream(output.stream(), BUFFER_BYTES)) {
      TraceClock clock = new TraceClock(counts);
      TimelineSink sink = sinks.apply(out, clock);
      Timeline timeline = new Timeline(sink, clock, options, events.types(), counts);
      for (ArchivedEvent event = events.next(); event != null; event = events.next()) {
        timeline.add(event);
      }
      timeline.finish();
      sink.finish();
    }
  }
}
