package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.EventCursor;
import io.lifeline.jobs.core.Timestamps;
import java.io.PrintWriter;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Set;
import java.util.function.LongSupplier;

/** Counts events, and shows on a terminal how far an export is that takes long. */
public final class Progress implements EventCursor {
  private static final long INTERVAL_NS = 1_000_000_000L;
  private static final long PATIENCE_NS = 2 * INTERVAL_NS;
  private static final int CHECK_EVENTS = 1_024;
  private static final String CLEAR_LINE = "\r\033[K";

  private final EventCursor events;
  private final Counts counts;
  private final PrintWriter terminal;
  private final LongSupplier clockNs;
  private long nextNs;
  private long count;
  private boolean shown;

  /**
   * @param terminal null to show nothing
   * @param clockNs monotonic clock
   */
  public Progress(EventCursor events, Counts counts, PrintWriter terminal, LongSupplier clockNs) {
    this.events = events;
    this.counts = counts;
    this.terminal = terminal;
    this.clockNs = clockNs;
    this.nextNs = clockNs.getAsLong() + PATIENCE_NS;
  }

  @Override
  public Set<String> types() {
    return events.types();
  }

  @Override
  public ArchivedEvent next() throws SQLException {
    ArchivedEvent event = events.next();
    if (event != null) {
      counts.add("events", 1);
      if (terminal != null && ++count % CHECK_EVENTS == 0 && clockNs.getAsLong() - nextNs >= 0) {
        terminal.printf(Locale.ROOT, "%s%,d events, up to %s", CLEAR_LINE, count, Timestamps.iso(event.timeNs()));
        terminal.flush();
        shown = true;
        nextNs = clockNs.getAsLong() + INTERVAL_NS;
      }
    }
    return event;
  }

  @Override
  public void close() throws SQLException {
    if (shown) {
      terminal.print(CLEAR_LINE);
      terminal.flush();
    }
    events.close();
  }
}
