package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The second stage of the job: turns the samples of all emitters of a group into alerts. Used by one thread.
 *
 * <p>A host calls {@link #accept} for each sample, {@link #punctuate} every second, and {@link #save} before it makes
 * the state durable.
 */
public final class BottleneckMonitor {

  private static final String PREFIX = "bottleneck/group/";
  private static final long NS_PER_MS = 1_000_000;

  private final BottleneckSettings settings;
  private final KeyedState state;
  private final Map<String, Group> groups = new HashMap<>();
  private final Set<String> changed = new HashSet<>();
  private final Metrics.Counter alerts;
  private final Metrics.Counter late;
  private final Metrics.Counter overflow;

  public BottleneckMonitor(BottleneckSettings settings, KeyedState state, Metrics metrics) {
    this.settings = settings;
    this.state = state;
    this.alerts = metrics.counter("lifeline_bottleneck_alerts_total", "Alerts published, including cleared ones.");
    this.late =
        metrics.counter(
            "lifeline_bottleneck_late_samples_total",
            "Samples left out: from before a known change, with a clock that is ahead, or with a speed that is not a "
                + "number.");
    this.overflow =
        metrics.counter(
            "lifeline_bottleneck_overflow_samples_total",
            "Samples left out: bottleneck.max.groups were monitored.");
    state.scan(PREFIX, (key, value) -> groups.put(key.substring(PREFIX.length()), Group.decode(settings, value)));
  }

  /** @param brokerTimeMs when the broker received the last batch of the sample */
  public void accept(Sample sample, long brokerTimeMs, Output output) {
    Group group = groups.get(sample.group());
    if (group == null) {
      if (groups.size() >= settings.maxGroups()) {
        overflow.increment();
        return;
      }
      group = new Group(sample.group(), settings);
      groups.put(sample.group(), group);
    }
    changed.add(sample.group());
    if (!group.add(sample, brokerTimeMs, alert -> publish(alert, output))) {
      late.increment();
    }
  }

  /** Judges samples that have waited for long enough; removes silent groups and clears their alerts. */
  public void punctuate(long nowMs, Output output) {
    groups
        .values()
        .removeIf(
            group -> {
              if (group.judge(nowMs, alert -> publish(alert, output))) {
                changed.add(group.name());
              }
              boolean isOver = (nowMs - group.lastMs()) * NS_PER_MS > settings.idleNs();
              if (isOver) {
                group.end(alert -> publish(alert, output));
                changed.add(group.name());
              }
              return isOver;
            });
  }

  public void save() {
    for (String name : changed) {
      Group group = groups.get(name);
      if (group == null) {
        state.delete(PREFIX + name);
      } else {
        state.put(PREFIX + name, group.encode());
      }
    }
    changed.clear();
  }

  private void publish(Alert alert, Output output) {
    alerts.increment();
    alert.send(output);
  }
}
