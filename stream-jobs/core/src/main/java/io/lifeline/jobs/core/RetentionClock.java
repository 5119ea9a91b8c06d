package io.lifeline.jobs.core;

import java.time.Duration;
import java.time.Instant;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time by which things are forgotten and deleted for good. It goes on as the broker's times of messages do, but at
 * most a tenth faster than a monotonic clock. So a message from the future, or a broker's clock that was put forward,
 * has nothing forgotten at once: the jump is refused and reported, and made up for slowly, as are outages and backlogs.
 * No wall clock has a say. Whatever is wrong, things are kept too long. Used by one thread.
 */
public final class RetentionClock {

  private static final Logger LOG = LoggerFactory.getLogger(RetentionClock.class);
  private static final String KEY = "retention-clock";
  private static final long JUMP_MS = Duration.ofHours(1).toMillis();
  private static final long LOG_INTERVAL_NS = Duration.ofMinutes(10).toNanos();
  private static final long LAST_MS = Instant.parse("9999-12-31T23:59:59Z").toEpochMilli();

  /** Messages come at any rate; time is measured between those that are at least so far apart. */
  private static final long SAMPLE_MS = 1000;

  /** What was refused is made up for at this part of the pace. */
  private static final int CATCH_UP = 10;

  private final KeyedState state;
  private final LongSupplier nanoTime;
  private boolean isSet;
  private boolean changed;
  private long timeMs;

  /** The broker's time at that moment, and what the broker's times went on by without this one. */
  private long stampMs;

  private long behindMs;
  private long readNs;
  private long loggedNs;
  private long jumps;

  /**
   * @param state where {@link #save} keeps the time
   * @param nanoTime usually {@code System::nanoTime}
   */
  public RetentionClock(KeyedState state, LongSupplier nanoTime) {
    this.state = state;
    this.nanoTime = nanoTime;
    byte[] saved = state.get(KEY);
    if (saved != null) {
      StateReader in = new StateReader(saved).version(1);
      startAt(in.varint());
      stampMs = in.varint();
    }
  }

  /** Goes on from there. Otherwise the first message says what time it is. */
  public void startAt(long ms) {
    isSet = true;
    timeMs = plausible(ms);
    stampMs = timeMs;
    readNs = nanoTime.getAsLong();
  }

  /** Takes notice of when the broker took a message. */
  public void observe(long brokerTimeMs) {
    if (!isSet) {
      startAt(brokerTimeMs);
      changed = true;
      return;
    }
    long now = nanoTime.getAsLong();
    long passedMs = (now - readNs) / 1_000_000;
    if (passedMs < SAMPLE_MS) {
      return;
    }
    long wentOnMs = plausible(brokerTimeMs) - stampMs;
    if (wentOnMs > passedMs + JUMP_MS) {
      report(wentOnMs, passedMs, now);
    }
    behindMs = wentOnMs < -JUMP_MS ? 0 : behindMs + wentOnMs;
    long stepMs = Math.max(0, Math.min(behindMs, passedMs + passedMs / CATCH_UP));
    timeMs += stepMs;
    behindMs -= stepMs;
    stampMs = plausible(brokerTimeMs);
    readNs = now;
    changed = true;
  }

  private static long plausible(long ms) {
    return Math.max(0, Math.min(ms, LAST_MS));
  }

  private void report(long jumpMs, long passedMs, long now) {
    jumps++;
    if (jumps == 1 || now - loggedNs > LOG_INTERVAL_NS) {
      loggedNs = now;
      LOG.warn("the broker's time went on by {} s within {} s: retention follows at the pace of a monotonic clock, and"
          + " things are kept longer. That is right after an outage or in a backlog; else the broker's clock is wrong",
          jumpMs / 1000, passedMs / 1000);
    }
  }

  public boolean isSet() {
    return isSet;
  }

  /** Milliseconds since the Unix epoch. */
  public long nowMs() {
    return nowMs(nanoTime.getAsLong());
  }

  /** As {@link #nowMs()}, at another moment of the monotonic clock. */
  public long nowMs(long atNs) {
    return timeMs + (atNs - readNs) / 1_000_000;
  }

  /** Writes the time into the state, if it has changed. */
  public void save() {
    if (changed) {
      state.put(KEY, new StateWriter().version(1).varint(timeMs).varint(stampMs).toBytes());
      changed = false;
    }
  }
}
