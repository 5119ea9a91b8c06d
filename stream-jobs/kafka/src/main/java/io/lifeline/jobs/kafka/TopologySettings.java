package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.signing.Signatures;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Environment of the processors.
 *
 * @param jobs the running jobs, as named in metrics, for example {@code summarise+ledger}
 * @param batches the batch topic
 * @param places which partitions batches belong into
 * @param prefix prefix of result topics
 * @param retention how long the broker keeps batches
 * @param batchesId returns the current ID of the batch topic; null if unknown
 * @param nanoTime usually {@code System::nanoTime}
 */
record TopologySettings(
    String jobs,
    String batches,
    BatchPlaces places,
    String prefix,
    Duration retention,
    Metrics metrics,
    ResultTopics topics,
    LogStart logStart,
    Supplier<String> batchesId,
    Signatures signatures,
    LongSupplier nanoTime) {

  /**
   * Ensures that a topic exists before the first result is sent to it; returns its actual name, or null if there are
   * too many.
   */
  @FunctionalInterface
  interface ResultTopics {
    String ensure(String topic, Destination.Kind kind);
  }
}
