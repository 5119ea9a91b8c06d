package io.lifeline.jobs.core.plan;

/** How a configured job divides its work. Used by any thread. */
public sealed interface Plan extends AutoCloseable permits ByEmitter, TwoStagePlan {

  /** Releases what the jobs of this plan share, once they have ended. */
  @Override
  default void close() {}
}
