package io.lifeline.jobs.core.plan;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Output;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * A job whose results combine several emitters. The first half works by emitter and passes parts on; the second half
 * receives all parts with equal keys. A host with one task for all emitters runs {@link #whole} instead.
 *
 * @param <P> the parts
 */
public non-sealed interface InTwoHalves<P> extends Plan {

  /** Receives what a first half finds. */
  @FunctionalInterface
  interface Next<P> {
    /** @param brokerTimeMs when the broker received the last batch of the part */
    void pass(P part, long brokerTimeMs);
  }

  /** Combines parts of all emitters. Used by one thread. */
  interface SecondHalf<P> {

    void accept(P part, long brokerTimeMs, Output output);

    /**
     * Called every second, once a message has been seen.
     *
     * @param isComplete whether every source has been heard or is silent, see {@code SourceClocks}
     */
    void punctuate(long nowMs, boolean isComplete, Output output);

    /** Writes what changed since the last call into the state. */
    void save();
  }

  /**
   * Both halves where several tasks read a group of emitters each, on a host without transactions. What the first
   * halves send to {@link #between} is delivered to the second at least once, in any order.
   */
  interface InGroups {

    Destination between();

    /**
     * @param group from 0
     * @param life the same for all groups and the second half; another one after their checkpoints were removed
     */
    Job first(int group, KeyedState state, String life);

    /** @param nanoTime usually {@code System::nanoTime} */
    Merger second(KeyedState state, String life, LongSupplier nanoTime);
  }

  /** The second half of {@link InGroups}. Used by one thread. */
  interface Merger {

    void accept(byte[] message);

    void punctuate(Output output);

    /** Writes what changed since the last call into the state. */
    void save();

    /** The session is over: removes its metrics. */
    void close();
  }

  /** Both halves in one job. */
  Job whole(KeyedState state);

  /** What the messages between the halves are called, in the plural: {@code partials}. */
  String parts();

  /** What the second half is called, also in the names of its topics and stores: {@code merge}. */
  String second();

  /** How long the second half waits for a silent source, in nanoseconds. */
  long idleNs();

  Job first(KeyedState state, Next<P> next);

  SecondHalf<P> second(KeyedState state);

  /** Parts with equal keys must reach the same second half. */
  String key(P part);

  /** Whether every second half receives the parts with this key. */
  default boolean isForAll(String key) {
    return false;
  }

  byte[] toBytes(P part);

  P fromBytes(byte[] bytes);

  /** How the job is divided into groups of emitters; empty if one task has to read all. */
  default Optional<InGroups> inGroups(int groups) {
    return Optional.empty();
  }
}
