package io.lifeline.jobs.core.bottleneck;

import io.lifeline.codec.BatchReader;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Settings of the job bottleneck. All times in nanoseconds.
 *
 * @param components component by operation: the name of a caliper, or of a pair of events without {@code .start} and
 *     {@code .end}
 * @param by how components are grouped: {@code session}, {@code program} or {@code all}
 * @param intervalNs length of a sample made of pairs of events
 * @param holdNs how long a verdict must be unchanged before it is published
 * @param idleNs silence after which a group is removed
 * @param maxGroups maximum number of groups; bounds the memory that emitters can occupy
 */
public record BottleneckSettings(
    Map<String, String> components, String by, long intervalNs, long holdNs, long idleNs, int maxGroups) {

  public static BottleneckSettings of(JobConfig config) {
    Map<String, String> components = new LinkedHashMap<>();
    for (String entry : config.get(Keys.BOTTLENECK_COMPONENTS)) {
      int equals = entry.indexOf('=');
      components.put(entry.substring(equals + 1), entry.substring(0, equals));
    }
    return new BottleneckSettings(
        components,
        config.get(Keys.BOTTLENECK_BY),
        config.get(Keys.BOTTLENECK_INTERVAL).toNanos(),
        config.get(Keys.BOTTLENECK_HOLD).toNanos(),
        config.get(Keys.BOTTLENECK_IDLE).toNanos(),
        config.get(Keys.BOTTLENECK_MAX_GROUPS));
  }

  /** Returns the group of the batch's operations; a batch without a session belongs to the group of its program. */
  String group(BatchReader batch) {
    return group(batch.context().get("session"), batch.program());
  }

  /** @param session null for none */
  public String group(String session, String program) {
    return switch (by) {
      case "all" -> "all";
      case "session" -> session != null ? "session=" + session : "program=" + program;
      default -> "program=" + program;
    };
  }

  /** Returns these settings with another length of samples, and a hold time of as many of them. */
  public BottleneckSettings withInterval(long newIntervalNs) {
    long newHoldNs = (long) ((double) holdNs / intervalNs * newIntervalNs);
    return new BottleneckSettings(components, by, newIntervalNs, newHoldNs, idleNs, maxGroups);
  }
}
