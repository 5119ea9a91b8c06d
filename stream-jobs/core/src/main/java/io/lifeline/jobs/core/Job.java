package io.lifeline.jobs.core;

import io.lifeline.codec.BatchReader;

/**
 * What is done with a stream of batches. A host drives it, always from one thread, in this order:
 *
 * <ol>
 *   <li>{@link #accept} for every batch that is valid and was not seen before, {@link #duplicate} for the others that
 *       are valid;
 *   <li>{@link #punctuate} and {@link #forget} now and then, at least every second, also when nothing arrives;
 *   <li>{@link #save} before the position and the state are made durable: on Kafka Streams after every batch and
 *       punctuation, on JetStream before every checkpoint.
 * </ol>
 *
 * <p>Everything that a job remembers is in the {@link KeyedState} it was built with, once {@code save} has returned;
 * a job built over that state goes on where the other stopped.
 */
public interface Job {

  /** The job's name in the configuration, in message ids and in metrics. */
  String name();

  /**
   * Takes one batch.
   *
   * @param batch rewound; valid only during the call. The job may walk its events and need not rewind it.
   */
  void accept(BatchReader batch, Position position, Output output);

  /** Takes notice of a batch that was seen before. */
  default void duplicate(BatchReader batch, Position position) {}

  /**
   * Takes notice that the broker's retention removed messages before they were read.
   *
   * @param from the first position that was still wanted
   * @param to the first position that there still is
   */
  default void expired(int partition, long from, long to) {}

  /**
   * Lets time pass.
   *
   * @param nowMs the time of the stream, see {@link StreamClock}: never behind the newest message, in the past while a
   *     backlog is worked off
   */
  default void punctuate(long nowMs, Output output) {}

  /**
   * Forgets what has been silent for too long, for good.
   *
   * @param nowMs the time to measure silence by, see {@link RetentionClock}: not the stream's, which may jump
   */
  default void forget(long nowMs) {}

  /** Writes what changed since the last call into the state. */
  default void save() {}
}
