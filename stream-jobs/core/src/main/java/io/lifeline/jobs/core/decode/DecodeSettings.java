package io.lifeline.jobs.core.decode;

import io.lifeline.jobs.core.Glob;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import java.util.List;

/**
 * Settings of the job decode.
 *
 * @param types the event types that are written
 * @param skewNs how far ahead of broker time an event may be
 */
public record DecodeSettings(List<Glob> types, long skewNs) {

  public static DecodeSettings of(JobConfig config) {
    return new DecodeSettings(
        config.get(Keys.DECODE_TYPES).stream().map(Glob::of).toList(), config.get(Keys.DECODE_SKEW).toNanos());
  }

  boolean allows(String type) {
    return types.stream().anyMatch(glob -> glob.matches(type));
  }
}
