package io.lifeline.jobs.kafka;

import java.util.concurrent.CompletionStage;

/** Asks where a partition of the batch topic begins; retention has removed everything before. */
@FunctionalInterface
interface LogStart {

  /** Returns the first offset still available, later: stream threads must not wait for a broker. */
  CompletionStage<Long> of(int partition);
}
