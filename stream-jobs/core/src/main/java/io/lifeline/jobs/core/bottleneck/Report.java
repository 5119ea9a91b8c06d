package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A caliper's report as it arrives: one event each for rate, duration and value, in this order, so that the value
 * completes it. The rate is not used, see {@link Sample#workRate}.
 */
final class Report {

  /** Statistics of one of the three. */
  record Aspect(long count, double sum, double variance, long threads) {}

  private static final Set<String> FIELDS = Set.of("value", "duration");

  private final Map<String, Aspect> aspects = new TreeMap<>();

  void add(String field, Aspect aspect) {
    if (FIELDS.contains(field)) {
      aspects.put(field, aspect);
    }
  }

  /** Removes the report and returns it as a sample; null if nothing was moved or a part is missing. */
  Sample take(String group, String component, String emitter, long endNs, long intervalNs) {
    Aspect value = aspects.remove("value");
    Aspect duration = aspects.remove("duration");
    boolean isUsable = value != null && duration != null && intervalNs > 0 && duration.count > 0
        && isPositive(value.sum) && isPositive(duration.sum) && duration.variance >= 0;
    return isUsable
        ? new Sample(group, component, emitter, endNs, intervalNs, duration.count, value.sum, duration.sum,
            duration.variance, duration.threads)
        : null;
  }

  private static boolean isPositive(double number) {
    return number > 0 && Double.isFinite(number);
  }

  void encode(StateWriter out) {
    out.varint(aspects.size());
    aspects.forEach(
        (field, a) -> out.text(field).varint(a.count).real(a.sum).real(a.variance).varint(a.threads));
  }

  static Report decode(StateReader in) {
    Report report = new Report();
    for (int left = in.count(18); left > 0; left--) {
      report.aspects.put(in.text(), new Aspect(in.varint(), in.real(), in.real(), in.varint()));
    }
    return report;
  }
}
