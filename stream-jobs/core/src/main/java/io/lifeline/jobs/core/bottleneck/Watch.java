package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
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

  /** Ends the name of a component's series at the sender. */
  static final String AT_SENDER = "@sender";

  /** Smaller changes are ignored. */
  private static final double WORTH_NOTICE = Math.log(1.25);

  /** Number of the longest intervals that show a bottleneck that moved. */
  private static final int RECENT_INTERVALS = 2;

  private final TreeMap<String, Series> series = new TreeMap<>();

  /** The components' traits before the last change. */
  private final TreeMap<String, ComponentStats> previous = new TreeMap<>();

  /** The components' traits when their rates were last reliable. */
  private final TreeMap<String, ComponentStats> reference = new TreeMap<>();

  private final long idleNs;
  private long changedNs;

  /** @param idleNs a component without samples for that long, while others have samples, is forgotten */
  Watch(long idleNs) {
    this.idleNs = idleNs;
  }

  /** Adds the samples of one interval and returns the new verdict; null if all are from before the last change. */
  Verdict add(List<Sample> samples) {
    Series.Change clearest = null;
    Set<Series> changed = new LinkedHashSet<>();
    for (Sample sample : samples) {
      if (sample.endNs() > changedNs) {
        Series component = series.computeIfAbsent(sample.component(), name -> new Series());
        component.add(sample);
        changed.add(component);
        series.values().removeIf(known -> known.newestNs() < sample.endNs() - idleNs);
      }
    }
    if (changed.isEmpty()) {
      return null;
    }
    for (Series component : changed) {
      Series.Change change = component.clearestChange(CLEAR);
      if (change != null && Math.abs(change.point().shift()) >= WORTH_NOTICE
          && (clearest == null || change.point().score() > clearest.point().score())) {
        clearest = change;
      }
    }
    if (clearest != null) {
      cutAt(clearest.timeNs());
    }
    Verdict verdict = verdict();
    long movedNs = movedNs(verdict);
    if (movedNs != 0) {
      cutAt(movedNs);
      verdict = verdict();
    }
    return verdict;
  }

  Verdict verdict() {
    return verdict(traits(), previous);
  }

  /** @param before the components' traits before the samples that are judged */
  private Verdict verdict(TreeMap<String, ComponentStats> now, TreeMap<String, ComponentStats> before) {
    if (now.size() < 2) {
      return Verdict.none(Verdict.Reason.TOO_LITTLE);
    }
    if (now.values().stream().anyMatch(traits -> traits.samples() < Rule.LEAST_SAMPLES)) {
      now.replaceAll((name, traits) -> before.containsKey(name) ? traits.withNoiseOf(before.get(name)) : traits);
    }
    return Rule.judge(now, reference);
  }

  /**
   * Returns when the bottleneck moved, if the last two intervals leave no doubt about it; else 0. The change of one
   * series takes more samples to show, but a bottleneck that moves changes two: one component's threads get time to
   * idle, and those of another have none left. Samples that give a verdict are kept where the two intervals are too few
   * to give another one.
   */
  private long movedNs(Verdict verdict) {
    long untilNs = knownNs();
    double spanNs = series.values().stream().mapToDouble(Series::spanNs).max().orElse(0);
    long fromNs = untilNs - (long) (RECENT_INTERVALS * spanNs);
    boolean isOld = series.values().stream().allMatch(known -> known.oldestNs() <= fromNs);
    if (!isOld) {
      return 0;
    }
    TreeMap<String, ComponentStats> recent = traits(fromNs, untilNs);
    String limit = Rule.clearLimit(recent);
    if (limit == null || limit.equals(verdict.component())) {
      return 0;
    }
    boolean isNothingKnown = verdict.reason() == Verdict.Reason.TOO_LITTLE;
    return isNothingKnown || limit.equals(verdict(recent, traits(Long.MIN_VALUE, fromNs)).component()) ? fromNs : 0;
  }

  private TreeMap<String, ComponentStats> traits(long afterNs, long untilNs) {
    TreeMap<String, ComponentStats> traits = new TreeMap<>();
    series.forEach((component, known) -> traits.put(component, known.traits(afterNs, untilNs)));
    return atTheFasterEnd(traits);
  }

  TreeMap<String, ComponentStats> traits() {
    TreeMap<String, ComponentStats> traits = new TreeMap<>();
    series.forEach((component, known) -> traits.put(component, known.traits()));
    return atTheFasterEnd(traits);
  }

  /**
   * Replaces the two ends of a component by the faster one. A receiver waits for its sender's disk as well as for the
   * network, and a sender for its receiver's: only what both ends wait for is between them.
   */
  private static TreeMap<String, ComponentStats> atTheFasterEnd(TreeMap<String, ComponentStats> ends) {
    TreeMap<String, ComponentStats> found = new TreeMap<>();
    ends.forEach(
        (end, traits) ->
            found.merge(
                end.endsWith(AT_SENDER) ? end.substring(0, end.length() - AT_SENDER.length()) : end,
                traits,
                (one, other) -> isSurelyFaster(other, one) ? other : one));
    return found;
  }

  private static boolean isSurelyFaster(ComponentStats end, ComponentStats than) {
    return end.samples() >= Rule.LEAST_IF_CLEAR && end.use().mean() < than.use().mean()
        && end.rate().mean() > than.rate().mean();
  }

  /** Returns the time up to which all components have samples, since the Unix epoch; 0 if there is none. */
  long knownNs() {
    return series.entrySet().stream().filter(known -> !known.getKey().endsWith(AT_SENDER))
        .mapToLong(known -> known.getValue().newestNs()).min().orElse(0);
  }

  /** Returns the time of the last change, since the Unix epoch; 0 if there was none. */
  long changedNs() {
    return changedNs;
  }

  /**
   * Removes the samples up to a change. Their traits become the reference, unless they are too few or part of the time
   * was not measured, which makes rates unreliable. Then the old reference stays, and with it the verdict, until the
   * throughput recovers or a rate explains its fall.
   */
  private void cutAt(long timeNs) {
    TreeMap<String, ComponentStats> ends = new TreeMap<>();
    series.forEach((component, known) -> ends.put(component, known.cutAt(timeNs)));
    TreeMap<String, ComponentStats> before = atTheFasterEnd(ends);
    changedNs = timeNs;
    previous.clear();
    previous.putAll(before);
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
    out.varint(previous.size());
    previous.forEach((component, traits) -> traits.encode(out.text(component)));
  }

  static Watch decode(long idleNs, StateReader in) {
    Watch watch = new Watch(idleNs);
    watch.changedNs = in.zigzag();
    for (int left = in.count(2); left > 0; left--) {
      watch.series.put(in.text(), Series.decode(in));
    }
    for (TreeMap<String, ComponentStats> kept : List.of(watch.reference, watch.previous)) {
      for (int left = in.count(2); left > 0; left--) {
        kept.put(in.text(), ComponentStats.decode(in));
      }
    }
    return watch;
  }
}
