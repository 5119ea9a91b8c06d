package io.lifeline.jobs.archive;

import java.time.Duration;
import java.util.Objects;

/**
 * When buffered data is stored, and how long duplicates are recognised.
 *
 * @param bytes memory limit of buffered data over all partitions; a PostgreSQL archive keeps as much again of
 *     the latest events
 * @param interval age at which events are stored, however few they are
 * @param remembered how long the batches of a silent emitter are recognised as duplicates. Longer than the broker keeps
 *     them: a recovery may resend batches that were archived long ago
 */
public record RollOptions(long bytes, Duration interval, Duration remembered) {
  public static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(60);
  public static final Duration DEFAULT_REMEMBERED = Duration.ofDays(30);

  public RollOptions {
    Objects.requireNonNull(interval, "interval");
    Objects.requireNonNull(remembered, "remembered");
    if (bytes < 1) {
      throw new IllegalArgumentException("archive.roll.bytes must be at least 1, not " + bytes);
    }
    if (interval.isNegative() || interval.isZero()) {
      throw new IllegalArgumentException("archive.roll.interval must be above zero, not " + interval);
    }
  }

  public RollOptions withBytes(long limit) {
    return new RollOptions(limit, interval, remembered);
  }

  /** Returns the options for so large a heap: at most a quarter is for buffered data, as all else needs room, too. */
  public RollOptions within(long heapBytes) {
    return withBytes(Math.max(1, Math.min(bytes, heapBytes / 4)));
  }

  /** Returns the options of one of so many writers that divide the memory among themselves. */
  public RollOptions dividedBy(int writers) {
    return withBytes(Math.max(1, bytes / writers));
  }

  public RollOptions withInterval(Duration age) {
    return new RollOptions(bytes, age, remembered);
  }

  public RollOptions withRemembered(Duration duration) {
    return new RollOptions(bytes, interval, duration);
  }

  /** Returns options for a broker that keeps batches that long, and may redeliver them that late. */
  public RollOptions rememberingAtLeast(Duration duration) {
    return remembered.compareTo(duration) >= 0 ? this : withRemembered(duration);
  }
}
