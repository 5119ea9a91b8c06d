package io.lifeline.jobs.archive;

import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Health of an archive that reports no error. Notices damaged files, and an archive that makes no progress without an
 * error, as on a hung disk or server. The appending thread reports
 * its progress; others ask.
 */
public final class ArchiveWatch {
  private static final long LEAST_NS = Duration.ofSeconds(60).toNanos();

  private final Archive archive;
  private final long limitNs;
  private final LongSupplier nanoTime;
  private volatile long aliveNs;
  private volatile long storedNs;
  private volatile boolean isPending;

  /** @param rollInterval after which data is stored */
  public ArchiveWatch(Archive archive, Duration rollInterval) {
    this(archive, rollInterval, System::nanoTime);
  }

  ArchiveWatch(Archive archive, Duration rollInterval, LongSupplier nanoTime) {
    this.archive = archive;
    this.nanoTime = nanoTime;
    this.aliveNs = nanoTime.getAsLong();
    this.storedNs = aliveNs;
    this.limitNs = Math.max(LEAST_NS, 2 * rollInterval.toNanos());
  }

  /**
   * Reports that the thread is at work.
   *
   * @param hasUnstored whether there is data to store; after a failure true until something is stored or all is read,
   *     since what was read and not stored is read again
   */
  public void alive(boolean hasUnstored) {
    aliveNs = nanoTime.getAsLong();
    if (!isPending || !hasUnstored) {
      storedNs = aliveNs;
    }
    isPending = hasUnstored;
  }

  /** Reports that data was stored. */
  public void stored() {
    storedNs = nanoTime.getAsLong();
  }

  /** Returns for how long data has been waiting to be stored, also while attempts fail; 0 if there is none. */
  public double secondsSinceStored() {
    return isPending ? (nanoTime.getAsLong() - storedNs) / 1e9 : 0;
  }

  /** Returns a status if there has been no progress for too long, or if files are damaged; null otherwise. */
  public String trouble() {
    List<String> damages = archive.damages();
    if (!damages.isEmpty()) {
      return "damaged: " + damages.get(0) + (damages.size() > 1 ? " (and " + (damages.size() - 1) + " more)" : "");
    }
    long now = nanoTime.getAsLong();
    if (now - aliveNs > limitNs) {
      return "stalled: no progress for " + (now - aliveNs) / 1_000_000_000 + " s; the archive or the broker does not"
          + " answer";
    }
    return isPending && now - storedNs > limitNs
        ? "stalled: nothing was stored for " + (now - storedNs) / 1_000_000_000 + " s" : null;
  }
}
