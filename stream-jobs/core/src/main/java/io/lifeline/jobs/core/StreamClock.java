package io.lifeline.jobs.core;

import java.util.function.LongSupplier;

/**
 * Stream time: the broker's time of the newest message, plus the time elapsed since it was read. A job that processes a
 * backlog is therefore in the past and considers nothing there late or idle; a job that has caught up follows the
 * broker's clock without comparing it with its own.
 */
public final class StreamClock {

  private static final String KEY = "clock";

  private final KeyedState state;
  private final String key;
  private final LongSupplier nanoTime;
  private long newestMs;
  private long readAtNs;
  private boolean changed;

  /** @param nanoTime usually {@code System::nanoTime} */
  public StreamClock(KeyedState state, LongSupplier nanoTime) {
    this(state, KEY, nanoTime);
  }

  StreamClock(KeyedState state, String key, LongSupplier nanoTime) {
    this.state = state;
    this.key = key;
    this.nanoTime = nanoTime;
    this.readAtNs = nanoTime.getAsLong();
    byte[] saved = state.get(key);
    if (saved != null) {
      newestMs = new StateReader(saved).version(1).varint();
    }
  }

  public void observe(long brokerTimeMs) {
    newestMs = Math.max(newestMs, brokerTimeMs);
    readAtNs = nanoTime.getAsLong();
    changed = true;
  }

  /** Returns whether a message has ever been seen; before that, the time is undefined. */
  public boolean isSet() {
    return newestMs != 0;
  }

  /** Milliseconds since the Unix epoch. */
  public long nowMs() {
    return newestMs + (nanoTime.getAsLong() - readAtNs) / 1_000_000;
  }

  public void save() {
    if (changed) {
      state.put(key, new StateWriter().version(1).varint(newestMs).toBytes());
      changed = false;
    }
  }
}
