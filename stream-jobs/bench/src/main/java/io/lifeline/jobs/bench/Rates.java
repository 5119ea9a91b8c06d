package io.lifeline.jobs.bench;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** A measured row, printed as the line of JSON that scripts/bench-jobs reads. */
final class Rates {

  private Rates() {}

  /**
   * @param perSecond one per repetition, in order
   * @param details further values; their names are ASCII
   */
  static void print(String name, double[] perSecond, Map<String, ? extends Number> details) {
    print(name, rates("per_s", perSecond), details);
  }

  /** @param perCoreSecond rates of the same repetitions per second of processor time */
  static void print(
      String name, double[] perSecond, double[] perCoreSecond, Map<String, ? extends Number> details) {
    print(name, rates("per_s", perSecond) + "," + rates("per_core_s", perCoreSecond), details);
  }

  private static void print(String name, String rates, Map<String, ? extends Number> details) {
    String more =
        details.entrySet().stream()
            .map(detail -> ",\"" + detail.getKey() + "\":" + detail.getValue())
            .collect(Collectors.joining());
    System.out.println("{\"name\":\"" + name + "\"," + rates + more + "}");
  }

  private static String rates(String name, double[] perSecond) {
    return Arrays.stream(perSecond)
        .mapToObj(rate -> String.format(Locale.ROOT, "%.3f", rate))
        .collect(Collectors.joining(",", "\"" + name + "\":[", "]"));
  }
}
