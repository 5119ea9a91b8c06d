package io.lifeline.jobs.core;

import io.lifeline.codec.BatchReader;

/**
 * Processes a stream of batches. A host calls, always from one thread:
 *
 * <ol>
 *   <li>{@link #accept} for every valid batch that was not seen before, {@link #duplicate} for every duplicate;
 *   <li>{@link #punctuate} and {@link #forget} at least every second, even without input;
 *   <li>{@link #save} before the position and the state are made durable: on Kafka Streams after every batch and
 *       punctuation, on JetStream before every checkpoint.
 * </ol>
 *
 * <p>When {@code save} has returned, everything that a job remembers is in the {@link KeyedState} it was built with;
 * a job built from that state continues where the other stopped.
 */
public interface Job {

  /** The job's name in the configuration, in message ids and in metrics. */
  String name();

  /**
   * Processes one batch.
   *
   * @param batch rewound; valid only during the call. The job may iterate over its events and need not rewind it.
   */
  void accept(BatchReader batch, Position position, Output output);

  /** Called for a batch that was seen before. */
  default void duplicate(BatchReader batch, Position position) {}

  /**
   * Called when the broker's retention has removed messages before they were read.
   *
   * @param from the first position that was not read
   * @param to the first position that still exists
   */
  default void expired(int partition, long from, long to) {}

  /**
   * Called periodically with the current time.
   *
   * @param nowMs stream time, see {@link StreamClock}: never behind the newest message, but in the past while a backlog
   *     is processed
   */
  default void punctuate(long nowMs, Output output) {}

  /**
   * Returns whether results wait for nothing but {@link #punctuate}, or, on a host whose stages talk through the
   * broker, for the first stage's next commit. A host asks after it has read batches and, if it can, does not wait for
   * the second to end. False costs at most that second.
   *
   * @param nowMs as in {@link #punctuate}
   */
  default boolean isDue(long nowMs) {
    return false;
  }

  /**
   * Permanently removes the state of emitters that have been silent for too long.
   *
   * @param nowMs the time by which to measure silence, see {@link RetentionClock}; not stream time, which may jump
   */
  default void forget(long nowMs) {}

  /** Writes changes since the last call to the state. */
  default void save() {}
}
