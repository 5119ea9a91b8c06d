package io.lifeline.jobs.core.pair;

import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import java.util.List;

/**
 * How pairs are found.
 *
 * @param by fields that both halves of a pair have, with equal values
 * @param stream the name of the stream that takes the durations
 * @param timeoutMs how long one half waits for the other
 * @param maxOpen halves that may wait, per emitter
 * @param retentionMs how long a silent emitter is known
 */
public record PairSettings(List<String> by, String stream, long timeoutMs, int maxOpen, long retentionMs) {

  /** All that decides on what becomes a pair. */
  String recipe() {
    return "by " + by + " within " + timeoutMs + " ms of " + maxOpen;
  }

  public static PairSettings of(JobConfig config) {
    String stream = config.get(Keys.PAIR_TO);
    if (config.filters().containsKey(stream)) {
      throw new ConfigException(
          Keys.PAIR_TO.name() + "=" + stream + ": " + Keys.FILTER_PREFIX + stream + " fills that stream already");
    }
    config.checkOutput(Keys.PAIR_TO.name() + "=" + stream, stream);
    return new PairSettings(
        config.get(Keys.PAIR_BY).stream().distinct().toList(),
        stream,
        config.get(Keys.PAIR_TIMEOUT).toMillis(),
        config.get(Keys.PAIR_MAX_OPEN),
        config.get(Keys.RETENTION).toMillis());
  }
}
