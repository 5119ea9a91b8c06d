package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.ArchiveCollisionException;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compacts an archive and drops what has expired, on a thread of its own while a writer is open. Of several writers one
 * does so at a time, for all partitions. After each merge it rests, so that it takes at most a quarter of a processor.
 */
final class Maintenance implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Maintenance.class);

  /** For readers that opened the archive before a merge, such as a long export. */
  private static final Duration GRACE = Duration.ofHours(1);

  private static final Duration LONGEST_INTERVAL = Duration.ofMinutes(10);

  /** How many times as long as a merge the rest after it is. */
  private static final int REST = 3;

  private static final long CANCEL_MS = 50;
  private static final long LONGEST_CLOSE_MS = 4_000;

  private final ParquetOptions options;
  private final Policy policy;
  private final Compactor compactor;
  private final long intervalNs;
  private final AtomicLong dueNs;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final AtomicReference<List<String>> damages;
  private final Set<String> reported = new HashSet<>();
  private final Thread thread = new Thread(this::run, "lifeline-archive-maintenance");

  /**
   * @param dueNs when the next run is due; a run that ends moves it, also for a later writer
   * @param id the archive's id
   * @param damages set to what each run finds damaged
   */
  Maintenance(ParquetOptions options, AtomicLong dueNs, String id, AtomicReference<List<String>> damages) {
    this.damages = damages;
    this.options = options;
    this.dueNs = dueNs;
    this.policy = options.compacting() ? Policy.LEVELS : Policy.NOTHING;
    this.compactor = new Compactor(options.withThreads(1), Compactor.DEFAULT_TARGET_BYTES, GRACE);
    compactor.expect(id);
    this.intervalNs = intervalNs(options);
    thread.setDaemon(true);
    thread.setPriority(Thread.MIN_PRIORITY);
    thread.start();
  }

  /** Returns the time between runs: as often as the rolls of one partition can be merged. */
  static long intervalNs(ParquetOptions options) {
    Duration rolls = options.roll().interval().multipliedBy(Policy.LEVELS.least());
    return (rolls.compareTo(LONGEST_INTERVAL) < 0 ? rolls : LONGEST_INTERVAL).toNanos();
  }

  /** Whether an archive with these options needs maintenance. */
  static boolean isNeeded(ParquetOptions options) {
    return options.compacting() || options.retention() != null;
  }

  private void run() {
    while (rest(dueNs.get() - System.nanoTime())) {
      try {
        Compactor.Result result = compactor.run(policy, workedNs -> rest(REST * workedNs));
        damages.set(result.damages());
        result.damages().stream().filter(reported::add).forEach(LOG::error);
        LOG.debug("maintenance of the archive {}: {}", options.directory(), result);
      } catch (ArchiveCollisionException e) {
        // Another writer, or the command, does it.
      } catch (IOException | RuntimeException e) {
        if (closing.getCount() > 0) {
          LOG.warn("the maintenance of the archive {} failed and is tried again in {} s: {}", options.directory(),
              TimeUnit.NANOSECONDS.toSeconds(intervalNs), e.getMessage());
        }
      }
      if (closing.getCount() > 0) { // else it was cut short, and the next writer continues at once
        dueNs.set(System.nanoTime() + intervalNs);
      }
    }
  }

  /** Returns false if the writer is closed. */
  private boolean rest(long ns) {
    try {
      return !closing.await(ns, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      return false;
    }
  }

  /** Ends a merge that is running. If that takes long, the merge is abandoned, as by a crash. */
  @Override
  public void close() {
    closing.countDown();
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LONGEST_CLOSE_MS);
    try {
      while (thread.isAlive() && System.nanoTime() - end < 0) {
        compactor.cancel(); // again, since a copy may be about to begin
        thread.join(CANCEL_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
