package io.lifeline.console.access;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A number of places of which each caller can take a part, so that nobody takes all from the others. Thread-safe. */
public final class Shares {
  private final int most;
  private final int mostPerCaller;
  private final Map<String, Integer> taken = new HashMap<>();
  private int all;

  public Shares(int most, int mostPerCaller) {
    this.most = most;
    this.mostPerCaller = mostPerCaller;
  }

  /** A place, until it is closed. */
  public interface Place extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Takes a place; returns null if there is none within the time.
   *
   * @param caller null for somebody who may have all places
   */
  public synchronized Place take(String caller, long waitMs) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs);
    while (all >= most || caller != null && taken.getOrDefault(caller, 0) >= mostPerCaller) {
      long leftNs = deadline - System.nanoTime();
      if (leftNs <= 0) {
        return null;
      }
      TimeUnit.NANOSECONDS.timedWait(this, leftNs);
    }
    all++;
    if (caller != null) {
      taken.merge(caller, 1, Integer::sum);
    }
    return new Taken(caller);
  }

  /** As {@link #take}, without waiting. */
  public Place tryTake(String caller) {
    try {
      return take(caller, 0);
    } catch (InterruptedException e) {
      throw new IllegalStateException("nothing was waited for", e);
    }
  }

  /** Returns how many places are taken. */
  public synchronized int taken() {
    return all;
  }

  private final class Taken implements Place {
    private final String caller;
    private boolean isOver;

    Taken(String caller) {
      this.caller = caller;
    }

    @Override
    public void close() {
      synchronized (Shares.this) {
        if (!isOver) {
          isOver = true;
          all--;
          if (caller != null) {
            taken.computeIfPresent(caller, (name, number) -> number == 1 ? null : number - 1);
          }
          Shares.this.notifyAll();
        }
      }
    }
  }
}
