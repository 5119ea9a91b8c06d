package io.lifeline.jobs.core;

import java.time.Duration;
import java.time.Instant;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time by which state is expired and permanently deleted. It follows the broker's timestamps of messages, but runs
 * at most a tenth faster than a monotonic clock. A message from the future, or a broker's clock that was set forward,
 * therefore expires nothing at once: the jump is reported, and the clock catches up slowly, as it does after outages
 * and in backlogs. The wall clock is not used. In case of error, data is kept too long. Used by one thread.
 */
public final class RetentionClock {

  private static final Logger LOG = LoggerFactory.getLogger(RetentionClock.class);
  private static final String KEY = "retention-clock";
  private static final long JUMP_MS = Duration.ofHours(1).toMillis();
  private static final long LOG_INTERVAL_NS = Duration.ofMinutes(10).toNanos();
  private static final long LAST_MS = Instant.parse("9999-12-31T23:59:59Z").toEpochMilli();

  /** Minimum time between two measurements; messages in between are ignored. */
  private static final long SAMPLE_MS = 1000;

  /** While it catches up, the clock runs faster by one part in this many. */
  private static final int CATCH_UP = 10;

  private final KeyedState state;
  private final LongSupplier nanoTime;
  private boolean isSet;
  private boolean changed;
  private long timeMs;

  /** The broker's time at the last measurement. */
  private long stampMs;

  /** How far the broker's time has advanced without this clock. */
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

  /** Sets the time. Without this call, the first message sets it. */
  public void startAt(long ms) {
    isSet = true;
    timeMs = plausible(ms);
    stampMs = timeMs;
    readNs = nanoTime.getAsLong();
  }

  /** Advances the clock by the time at which the broker received a message. */
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
      LOG.warn("the broker's time advanced by {} s within {} s: retention follows a monotonic clock instead, and "
          + "data is kept longer. This is normal after an outage or in a backlog; otherwise the broker's clock is "
          + "wrong",
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

  /** As {@link #nowMs()}, for the given time of the monotonic clock. */
  public long nowMs(long atNs) {
    return timeMs + (atNs - readNs) / 1_000_000;
  }

  /** Writes the time to the state, if it has changed; what it still has to catch up with is part of the stamp. */
  public void save() {
    if (changed) {
      state.put(KEY, new StateWriter().version(1).varint(timeMs).varint(plausible(stampMs - behindMs)).toBytes());
      changed = false;
    }
  }
}
