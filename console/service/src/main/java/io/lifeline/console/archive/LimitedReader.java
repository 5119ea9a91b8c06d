package io.lifeline.console.archive;

import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.TimeSpan;
import io.lifeline.jobs.archive.TypeEntry;
import java.io.IOException;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Ends the queries of one question to the archive when its time is over, since others wait for the archive. */
public final class LimitedReader implements ArchiveReader {
  private static final long AGAIN_MS = 100;

  private final ArchiveReader archive;
  private final long endNs;
  private volatile PreparedStatement running;
  private boolean hasEnded;

  private LimitedReader(ArchiveReader archive, long limitMs) {
    this.archive = archive;
    this.endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMs);
  }

  /**
   * Asks the archive.
   *
   * @param watch runs the time limit
   */
  public static <T> T ask(ArchiveReader archive, long limitMs, ScheduledExecutorService watch,
      ArchiveAccess.Question<T> question) throws IOException, SQLException {
    LimitedReader limited = new LimitedReader(archive, limitMs);
    ScheduledFuture<?> limit = // again, since a query may have been prepared and not started
        watch.scheduleWithFixedDelay(limited::cancel, limitMs, AGAIN_MS, TimeUnit.MILLISECONDS);
    try {
      return question.ask(limited);
    } catch (SQLException e) {
      throw limited.isOver() ? new SQLException("the question was ended after " + limitMs / 1000
          + " s: restrict it, for example to a part of the time", e) : e;
    } finally {
      limit.cancel(false);
      limited.end();
    }
  }

  /** From here on the reader belongs to the next question, which must not be cancelled. */
  private synchronized void end() {
    hasEnded = true;
  }

  private boolean isOver() {
    return System.nanoTime() - endNs >= 0;
  }

  private void cancel() {
    cancelPreparation();
    PreparedStatement query = running;
    try {
      if (query != null) {
        query.cancel();
      }
    } catch (SQLException e) {
      // It has ended meanwhile.
    }
  }

  @Override
  public synchronized void cancelPreparation() {
    if (!hasEnded) {
      archive.cancelPreparation();
    }
  }

  @Override
  public PreparedStatement prepare(String sql) throws SQLException {
    PreparedStatement query = archive.prepare(sql);
    running = query;
    if (isOver()) {
      query.close();
      throw new SQLException("the time is over");
    }
    return query;
  }

  @Override
  public Set<String> eventTypes() throws SQLException {
    return archive.eventTypes();
  }

  @Override
  public String viewOf(String eventType) throws SQLException {
    return archive.viewOf(eventType);
  }

  @Override
  public boolean has(String eventType, String field) throws SQLException {
    return archive.has(eventType, field);
  }

  @Override
  public String text(String eventType, String field) throws SQLException {
    return archive.text(eventType, field);
  }

  @Override
  public String integer(String eventType, String field) throws SQLException {
    return archive.integer(eventType, field);
  }

  @Override
  public String real(String eventType, String field) throws SQLException {
    return archive.real(eventType, field);
  }

  @Override
  public List<TypeEntry.FieldEntry> fields(String eventType) throws SQLException {
    return archive.fields(eventType);
  }

  @Override
  public String timeNs() {
    return archive.timeNs();
  }

  @Override
  public String within(long fromNs, long toNs) {
    return archive.within(fromNs, toNs);
  }

  @Override
  public String events(TimeSpan span) {
    return archive.events(span);
  }

  @Override
  public String eventsOf(String eventType, TimeSpan span) throws SQLException {
    return archive.eventsOf(eventType, span);
  }

  /** The archive stays open. */
  @Override
  public void close() {}
}
