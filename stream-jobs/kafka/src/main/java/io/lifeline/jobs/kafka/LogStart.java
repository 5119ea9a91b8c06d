package io.lifeline.jobs.kafka;

/** Returns where a partition of the batch topic begins now; retention has removed everything before. */
@FunctionalInterface
interface LogStart {

  /** Returns the first offset still available. */
  long of(int partition);
}
