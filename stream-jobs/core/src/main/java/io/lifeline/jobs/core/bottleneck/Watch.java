package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.Map;
import java.util.TreeMap;

/**
 * The components of one group since the last change. Earlier samples are removed; only their traits may be kept, as a
 * reference for comparison.
 */
final class Watch {

  /**
   * Minimum score of a change, in standard deviations. Every sample is tested, in three numbers of each component: the
   * usual bound of a single test would find a change in noise every few minutes.
   */
  private static final double CLEAR = 4.0;

  /** Smaller changes are ignored. */
  private static final double WORTH_NOTICE = Math.log(1.25);

  private final TreeMap<String, Series> series = new TreeMap<>();

  /** The components' traits when their rates were last reliable. */
  private final TreeMap<String, ComponentStats> reference = new TreeMap<>();

  private final long idleNs;
  private long changedNs;

  /** @param idleNs a component without samples for that long, while others have samples, is forgotten */
  Watch(long idleNs) {
    this.idleNs = idleNs;
  }

  /** Adds a sample and returns the new verdict; null if the sample is from before the last change. */
  Verdict add(Sample sample) {
    if (sample.endNs() < changedNs) {
      return null;
    }
    Series component = series.computeIfAbsent(sample.component(), name -> new Series());
    component.add(sample);
    series.values().removeIf(known -> known.newestNs() < sample.endNs() - idleNs);
    Series.Change change = component.clearestChange(CLEAR);
    if (change != null && Math.abs(change.point().shift()) >= WORTH_NOTICE) {
      cutAt(change.timeNs());
    }
    return verdict();
  }

  Verdict verdict() {
    return series.size() < 2 ? Verdict.none(Verdict.Reason.TOO_LITTLE) : Rule.judge(traits(), reference);
  }

  Map<String, ComponentStats> traits() {
    TreeMap<String, ComponentStats> traits = new TreeMap<>();
    series.forEach((component, known) -> traits.put(component, known.traits()));
    return traits;
  }

  /** Returns the time up to which all components have samples, since the Unix epoch; there must be a component. */
  long knownNs() {
    return series.values().stream().mapToLong(Series::newestNs).min().orElseThrow();
  }

  /** Returns the time of the last change, since the Unix epoch; 0 if there was none. */
  long changedNs() {
    return changedNs;
  }

  /**
   * Removes the samples before a change. Their traits become the reference, unless they are too few or part of the time
   * was not measured, which makes rates unreliable. Then the old reference stays, and with it the verdict, until the
   * throughput recovers or a rate explains its fall.
   */
  private void cutAt(long timeNs) {
    TreeMap<String, ComponentStats> before = new TreeMap<>();
    series.forEach((component, known) -> before.put(component, known.cutAt(timeNs)));
    changedNs = timeNs;
    boolean isEnough = before.values().stream().allMatch(traits -> traits.samples() >= Rule.LEAST_SAMPLES);
    if (isEnough && !Rule.judge(before, reference).isOfHiddenTime()) {
      reference.clear();
      reference.putAll(before);
    }
  }

  void encode(StateWriter out) {
    out.zigzag(changedNs).varint(series.size());
    series.forEach((component, known) -> known.encode(out.text(component)));
    out.varint(reference.size());
    reference.forEach((component, traits) -> traits.encode(out.text(component)));
  }

  static Watch decode(long idleNs, StateReader in) {
    Watch watch = new Watch(idleNs);
    watch.changedNs = in.zigzag();
    for (int left = in.count(2); left > 0; left--) {
      watch.series.put(in.text(), Series.decode(in));
    }
    for (int left = in.count(2); left > 0; left--) {
      watch.reference.put(in.text(), ComponentStats.decode(in));
    }
    return watch;
  }
}
