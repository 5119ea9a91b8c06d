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
  private volatile Map<RouteKey, Long> last;
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
      last = archive.count();
    } catch (IOException | RuntimeException e) {
      LOG.warn("cannot read the counts of the archive: {}; the ledger keeps the previous ones", e.getMessage());
    } finally {
      hasAnswered = true;
    }
  }

  @Override
  public boolean hasAnswered() {
    return hasAnswered;
  }

  @Override
  public Map<RouteKey, Long> last() {
    return last;
  }

  @Override
  public void close() {
    asking.execute(archive::close);
    asking.shutdown();
  }
}
