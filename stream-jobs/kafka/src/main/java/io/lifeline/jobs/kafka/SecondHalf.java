package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.bottleneck.Sample;
import io.lifeline.jobs.core.summarise.Partial;

/** The way from the tasks that read batches to those in which what belongs together meets. */
interface SecondHalf {

  /** To the task that merges the window. */
  void merge(Partial partial);

  /**
   * To the task that watches the group.
   *
   * @param brokerTimeMs when the broker took the last batch of the sample
   */
  void monitor(Sample sample, long brokerTimeMs);
}
