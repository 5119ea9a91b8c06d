package io.lifeline.jobs.core.ledger;

import io.lifeline.jobs.core.RouteKey;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Recent event counts of an archive, queried periodically by a separate thread, once for all tasks. A database that
 * does not answer blocks no task. Thread-safe.
 */
public final class ArchivedCounts implements LedgerJob.Archived, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ArchivedCounts.class);

  private final ArchivedEvents archive;
  private final ScheduledExecutorService asking = Executors.newSingleThreadScheduledExecutor(ArchivedCounts::thread);
  private volatile LedgerJob.Counts last;
  private volatile long lastNs = System.nanoTime();
  private volatile boolean hasAnswered;

  /** @param interval between two queries */
  public ArchivedCounts(ArchivedEvents archive, Duration interval) {
    this.archive = archive;
    asking.scheduleWithFixedDelay(this::ask, 0, interval.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static Thread thread(Runnable work) {
    Thread thread = new Thread(work, "lifeline-archived");
    thread.setDaemon(true);
    return thread;
  }

  private void ask() {
    try {
      long startNs = System.nanoTime();
      Map<RouteKey, Long> events = archive.count();
      last = new LedgerJob.Counts(events, archive.ends());
      lastNs = startNs;
    } catch (IOException | RuntimeException e) {
      LOG.warn("cannot read the counts of the archive: {}; the ledger keeps those of {} s ago", e.getMessage(),
          (long) ageSeconds());
    } finally {
      hasAnswered = true;
    }
  }

  @Override
  public boolean hasAnswered() {
    return hasAnswered;
  }

  @Override
  public LedgerJob.Counts last() {
    return last;
  }

  /** Returns the age of the {@link #last} counts; before the first ones, the time that they have been missing. */
  public double ageSeconds() {
    return (System.nanoTime() - lastNs) / 1e9;
  }

  @Override
  public void close() {
    asking.execute(archive::close);
    asking.shutdown();
  }
}
