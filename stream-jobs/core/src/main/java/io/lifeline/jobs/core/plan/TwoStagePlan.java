package io.lifeline.jobs.core.plan;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Output;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * A job whose results combine several emitters. The first stage works by emitter and passes parts on; the second stage
 * receives all parts with equal keys. A host with one task for all emitters runs {@link #whole} instead.
 *
 * @param <P> the parts
 */
public non-sealed interface TwoStagePlan<P> extends Plan {

  /** Receives what a first stage finds. */
  @FunctionalInterface
  interface Next<P> {
    /** @param brokerTimeMs when the broker received the last batch of the part */
    void pass(P part, long brokerTimeMs);
  }

  /** Combines parts of all emitters. Used by one thread. */
  interface SecondStage<P> {

    void accept(P part, long brokerTimeMs, Output output);

    /**
     * Called every second, once a message has been seen.
     *
     * @param isComplete whether every source has been heard or is silent, see {@code SourceClocks}
     */
    void punctuate(long nowMs, boolean isComplete, Output output);

    /** See {@link Job#isDue}. */
    default boolean isDue(long nowMs) {
      return false;
    }

    /** Writes what changed since the last call into the state. */
    void save();
  }

  /**
   * Both stages where several tasks read a group of emitters each, on a host without transactions. What the first
   * stages send to {@link #between} is delivered to the second at least once, in any order.
   */
  interface Grouped {

    Destination between();

    /**
     * @param group from 0
     * @param life the same for all groups and the second stage; another one after their checkpoints were removed
     */
    Job first(int group, KeyedState state, String life);

    /** @param nanoTime usually {@code System::nanoTime} */
    Merger second(KeyedState state, String life, LongSupplier nanoTime);
  }

  /** The second stage of {@link Grouped}. Used by one thread. */
  interface Merger {

    void accept(byte[] message);

    void punctuate(Output output);

    /** See {@link Job#isDue}. */
    boolean isDue();

    /** Writes what changed since the last call into the state. */
    void save();

    /** The session is over: removes its metrics. */
    void close();
  }

  /** Both stages in one job. */
  Job whole(KeyedState state);

  /** What the messages between the stages are called, in the plural: {@code partials}. */
  String parts();

  /** What the second stage is called, also in the names of its topics and stores: {@code merge}. */
  String second();

  /** How long the second stage waits for a silent source, in nanoseconds. */
  long idleNs();

  Job first(KeyedState state, Next<P> next);

  SecondStage<P> second(KeyedState state);

  /** Parts with equal keys must reach the same second stage. */
  String key(P part);

  /** Whether every second stage receives the parts with this key. */
  default boolean isForAll(String key) {
    return false;
  }

  byte[] toBytes(P part);

  P fromBytes(byte[] bytes);

  /** How the job is divided into groups of emitters; empty if one task has to read all. */
  default Optional<Grouped> grouped(int groups) {
    return Optional.empty();
  }
}
