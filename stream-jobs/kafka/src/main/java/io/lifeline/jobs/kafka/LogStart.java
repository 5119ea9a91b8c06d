package io.lifeline.jobs.kafka;

/** Tells where a partition of the batches begins now: what lies before has been removed by retention. */
@FunctionalInterface
interface LogStart {

  /** The first offset that there still is. */
  long of(int partition);
}
