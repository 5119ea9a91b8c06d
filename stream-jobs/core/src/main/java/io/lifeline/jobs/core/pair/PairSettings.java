package io.lifeline.jobs.core.pair;

import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import java.util.List;

/**
 * Settings of the job pair.
 *
 * @param by fields that have equal values in both halves of a pair
 * @param stream name of the stream of durations
 * @param timeoutMs how long one half waits for the other
 * @param maxOpen maximum number of waiting halves per emitter
 * @param retentionMs how long the broker keeps batches
 */
public record PairSettings(List<String> by, String stream, long timeoutMs, int maxOpen, long retentionMs) {

  /** Returns everything that determines which pairs are found. */
  String recipe() {
    return "by " + by + " within " + timeoutMs + " ms of " + maxOpen;
  }

  public static PairSettings of(JobConfig config) {
    return new PairSettings(
        config.get(Keys.PAIR_BY).stream().distinct().toList(),
        config.derivedStream(Keys.PAIR_TO),
        config.get(Keys.PAIR_TIMEOUT).toMillis(),
        config.get(Keys.PAIR_MAX_OPEN),
        config.get(Keys.RETENTION).toMillis());
  }
}
