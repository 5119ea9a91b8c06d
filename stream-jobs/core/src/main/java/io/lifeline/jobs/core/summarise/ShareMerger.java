package io.lifeline.jobs.core.summarise;

import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.SequenceSet;
import io.lifeline.jobs.core.SourceClocks;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import io.lifeline.jobs.core.plan.TwoStagePlan.Merger;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * The second stage of summarise for emitters in groups: merges each {@link Share} once, in any order, and publishes the
 * windows. Used by one thread.
 */
public final class ShareMerger implements Merger {

  private static final String PREFIX = "summarise/seen/";

  /** First byte of a value with a version. Others begin with the number of runs, and there is at least one. */
  private static final int VERSIONED = 0;

  private final String life;
  private final int groups;
  private final KeyedState state;
  private final WindowMerger merger;
  private final Runnable removeGauge;
  private final SourceClocks clocks;
  private final Map<Integer, SequenceSet> seen = new TreeMap<>();
  private final Set<Integer> changed = new HashSet<>();
  private final Metrics.Counter repeated;

  /**
   * @param life as in {@link ShareJob}
   * @param nanoTime usually {@code System::nanoTime}
   */
  public ShareMerger(
      SummariseSettings settings,
      String life,
      int groups,
      KeyedState state,
      LongSupplier nanoTime,
      Metrics metrics) {
    this.life = life;
    this.groups = groups;
    this.state = state;
    this.merger = new WindowMerger(settings, state, metrics);
    this.clocks = new SourceClocks(state, nanoTime, groups, settings.idleNs());
    this.repeated = metrics.counter("lifeline_summarise_repeated_shares_total", "Repeated shares absorbed.");
    this.removeGauge = metrics.gauge(
        "lifeline_summarise_missing_shares",
        "Shares of emitter groups that are missing although later ones have arrived.",
        this::missing);
    state.scan(PREFIX, (key, value) -> seen.put(Integer.valueOf(key.substring(PREFIX.length())), decode(value)));
  }

  private static byte[] encode(SequenceSet numbers) {
    StateWriter out = new StateWriter().fixed8(VERSIONED).version(1);
    numbers.encode(out);
    return out.toBytes();
  }

  private static SequenceSet decode(byte[] value) {
    StateReader in = new StateReader(value);
    if (value[0] == VERSIONED) {
      in.fixed8();
      in.version(1);
    }
    return SequenceSet.decode(in);
  }

  @Override
  public void close() {
    removeGauge.run();
  }

  /**
   * Merges a share, unless it is a repeat, or has another number of groups or another life: after a restart from the
   * beginning, the same events are added again.
   */
  @Override
  public void accept(byte[] message) {
    Share share = Share.fromBytes(message);
    if (share.groups() != groups || !share.life().equals(life)) {
      return;
    }
    synchronized (seen) {
      if (!seen.computeIfAbsent(share.group(), group -> new SequenceSet()).add(share.number())) {
        repeated.increment();
        return;
      }
    }
    changed.add(share.group());
    share.entries().forEach(entry -> merger.merge(entry.windowStartNs(), entry.key(), entry.aggregate()));
    for (Progress progress : share.progress()) {
      clocks.observe(share.group(), progress.brokerTimeMs());
      merger.observe(progress);
    }
  }

  @Override
  public void punctuate(Output output) {
    if (clocks.isSet()) {
      merger.punctuate(clocks.nowMs(), clocks.isComplete(), output);
    }
  }

  @Override
  public boolean isDue() {
    return clocks.isSet() && merger.isDue(clocks.nowMs());
  }

  @Override
  public void save() {
    for (int group : changed) {
      state.put(PREFIX + group, encode(seen.get(group)));
    }
    changed.clear();
    clocks.save();
    merger.save();
  }

  /** Called by the thread that reads the metrics. */
  private double missing() {
    synchronized (seen) {
      return seen.values().stream().mapToLong(SequenceSet::missing).sum();
    }
  }
}
