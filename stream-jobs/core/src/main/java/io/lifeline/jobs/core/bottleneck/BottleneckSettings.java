package io.lifeline.jobs.core.bottleneck;

import io.lifeline.codec.BatchReader;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What is compared with what. All times in nanoseconds.
 *
 * @param components the component's name by the name of an operation: a caliper, or a pair of events with
 *     {@code .start} and {@code .end} behind it
 * @param by whose components form a group of their own
 * @param intervalNs for which pairs of events are added up to a sample
 * @param holdNs how long an answer must be the same before it is told
 * @param idleNs after that much silence a group is over
 * @param maxGroups that are held at once: whoever may emit must not be able to fill the memory
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

  /** The group of the batch's operations; a batch that names no session belongs to its program. */
  String group(BatchReader batch) {
    String session = batch.context().get("session");
    return switch (by) {
      case "all" -> "all";
      case "session" -> session != null ? "session=" + session : "program=" + batch.program();
      default -> "program=" + batch.program();
    };
  }
}
