package io.lifeline.jobs.core.bottleneck;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Gives the answer of the job to events that are all there, such as those of one group in an archive: the same samples
 * judged by the same rule, in the order of time. Used by one thread.
 */
public final class Replay {

  private static final long NS_PER_MS = 1_000_000;

  private final BottleneckSettings settings;
  private final Map<String, Operations> emitters = new TreeMap<>();
  private long operations;

  /** @param settings of which the grouping is not used */
  public Replay(BottleneckSettings settings) {
    this.settings = settings;
  }

  /**
   * Adds a part of a caliper's report: a {@code lifeline.summary}. Those of one emitter must be added in their order,
   * and before its pairs of events.
   */
  public void report(
      String emitter, String operation, String field, long timeNs, long intervalNs, long count, double sum,
      double variance, long threads) {
    String component = settings.components().get(operation);
    if (component != null) {
      of(emitter).report(operation, component, field,
          new Report.Aspect(count, sum, variance, Math.max(0, threads)), timeNs, intervalNs);
    }
  }

  /** Adds an operation that has a start and an end. */
  public void pair(String emitter, long thread, String operation, long startNs, long endNs, double bytes) {
    String component = settings.components().get(operation);
    if (component != null) {
      of(emitter).start(operation, thread, operations, startNs);
      of(emitter).end(operation, component, thread, operations++, endNs, bytes);
    }
  }

  private Operations of(String emitter) {
    return emitters.computeIfAbsent(
        emitter,
        name -> {
          Operations added = new Operations(settings);
          added.belongTo("", name, 0);
          return added;
        });
  }

  /** Returns the answer after all that was added; to be called once. */
  public Answer answer() {
    List<Sample> samples = new ArrayList<>();
    emitters.values().forEach(emitter -> samples.addAll(emitter.complete(true)));
    samples.sort(Sample.ORDER);
    List<Alert> alerts = new ArrayList<>();
    Group group = new Group("", settings);
    long lastNs = Long.MAX_VALUE;
    for (Sample sample : samples) {
      if (sample.endNs() - settings.idleNs() > lastNs) {
        group.end(alerts::add);
        group = new Group("", settings);
      }
      lastNs = sample.endNs();
      group.add(sample, sample.endNs() / NS_PER_MS, alerts::add);
    }
    group.judgeAll(alerts::add);
    return group.answer(alerts);
  }
}
