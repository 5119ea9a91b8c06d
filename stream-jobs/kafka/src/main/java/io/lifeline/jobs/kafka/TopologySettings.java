package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Signatures;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * What the processors need to know of their surroundings.
 *
 * @param jobs what runs, as metrics call its tasks: such as {@code summarise+ledger}
 * @param batches the topic of the batches
 * @param partitions how many partitions that topic has
 * @param prefix what the names of result topics start with
 * @param retention how long the broker keeps batches
 * @param batchesId tells which topic has that name now; null if that is not known
 * @param nanoTime usually {@code System::nanoTime}
 */
record TopologySettings(
    String jobs,
    String batches,
    int partitions,
    String prefix,
    Duration retention,
    Metrics metrics,
    ResultTopics topics,
    LogStart logStart,
    Supplier<String> batchesId,
    Signatures signatures,
    LongSupplier nanoTime) {

  /**
   * Makes sure that a topic is there before the first result is sent to it; returns the name that it has, or null if
   * there are too many.
   */
  @FunctionalInterface
  interface ResultTopics {
    String ensure(String topic, Destination.Kind kind);
  }
}
