package io.lifeline.jobs.core.decode;

import io.lifeline.jobs.core.Glob;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import java.util.List;

/** @param types the event types that are written out; all others are not */
public record DecodeSettings(List<Glob> types) {

  public static DecodeSettings of(JobConfig config) {
    return new DecodeSettings(config.get(Keys.DECODE_TYPES).stream().map(Glob::of).toList());
  }

  boolean allows(String type) {
    return types.stream().anyMatch(glob -> glob.matches(type));
  }
}
