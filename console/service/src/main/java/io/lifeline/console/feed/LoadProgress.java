package io.lifeline.console.feed;

import java.util.concurrent.atomic.AtomicLong;

/** How far the reading of the archive is. Thread-safe. */
public final class LoadProgress {
  private final AtomicLong done = new AtomicLong();
  private volatile long total;
  private volatile boolean loading;

  /** @param loading whether there is an archive, whose reading may begin later */
  LoadProgress(boolean loading) {
    this.loading = loading;
  }

  void begin(long events) {
    total = events;
  }

  void advance(long events) {
    done.addAndGet(events);
  }

  void end() {
    loading = false;
  }

  public boolean loading() {
    return loading;
  }

  /** Returns the share that is read, from 0 to 1. */
  public double share() {
    return !loading ? 1 : total == 0 ? 0 : Math.min(1, done.get() / (double) total);
  }
}
