package io.lifeline.jobs.core.bottleneck;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.commons.statistics.inference.AlternativeHypothesis;
import org.apache.commons.statistics.inference.TTest;

/**
 * The rule of papers/003 as published, for comparison: the lowest mean of nbytes / dur, if t-tests show that it is
 * lower than every other. It uses only the last half minute, which favours it: the published rule ignores changes.
 */
final class PapersRule {

  private static final int MEMORY_S = 30;
  private static final double SIGNIFICANCE = 0.05;

  private final Map<String, List<Double>> samples = new TreeMap<>();

  /** @param rates by component, the means of nbytes / dur in one second */
  void add(Map<String, Double> rates) {
    rates.forEach(
        (component, rate) -> {
          List<Double> known = samples.computeIfAbsent(component, name -> new ArrayList<>());
          known.add(rate);
          if (known.size() > MEMORY_S) {
            known.remove(0);
          }
        });
  }

  /** Returns the component, or null if the tests do not distinguish it from all others. */
  String answer() {
    String lowest =
        samples.keySet().stream().min(Comparator.comparingDouble(name -> mean(rates(name)))).orElseThrow();
    TTest test = TTest.withDefaults().with(AlternativeHypothesis.LESS_THAN);
    boolean isLower =
        samples.keySet().stream()
            .filter(name -> !name.equals(lowest))
            .allMatch(name -> test.test(rates(lowest), rates(name)).getPValue() < SIGNIFICANCE);
    return isLower ? lowest : null;
  }

  private double[] rates(String component) {
    return samples.get(component).stream().mapToDouble(Double::doubleValue).toArray();
  }

  private static double mean(double[] values) {
    double sum = 0;
    for (double value : values) {
      sum += value;
    }
    return sum / values.length;
  }
}
