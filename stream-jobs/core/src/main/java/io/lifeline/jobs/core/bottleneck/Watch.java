package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.Map;
import java.util.TreeMap;

/**
 * The components of one group, from one change to the next: after a change, what was before says nothing about now,
 * except as what now is compared with.
 */
final class Watch {

  /**
   * How many standard deviations a change must stand out. Looked for at every sample, in three numbers of each
   * component: a bound for a single look would find a change in noise every few minutes.
   */
  private static final double CLEAR = 4.0;

  /** Changes by less are of no interest. */
  private static final double WORTH_NOTICE = Math.log(1.25);

  private final TreeMap<String, Series> series = new TreeMap<>();

  /** How the components were when their rates could be relied upon last. */
  private final TreeMap<String, Traits> reference = new TreeMap<>();

  private final long idleNs;
  private long changedNs;

  /** @param idleNs a component of which nothing has come for so long, while others went on, is forgotten */
  Watch(long idleNs) {
    this.idleNs = idleNs;
  }

  /** Takes a sample and says what is to be thought now; null if it is from before the last change. */
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

  Map<String, Traits> traits() {
    TreeMap<String, Traits> traits = new TreeMap<>();
    series.forEach((component, known) -> traits.put(component, known.traits()));
    return traits;
  }

  /** Up to when all components are known, since the Unix epoch; there must be one. */
  long knownNs() {
    return series.values().stream().mapToLong(Series::newestNs).min().orElseThrow();
  }

  /** When the last change was found to have been, since the Unix epoch; 0 if there was none. */
  long changedNs() {
    return changedNs;
  }

  /**
   * While time passes unseen, rates are nothing to compare with: then the reference stays, and with it what was
   * concluded, until the throughput is back or a rate explains that it is not.
   */
  private void cutAt(long timeNs) {
    TreeMap<String, Traits> before = new TreeMap<>();
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
      watch.reference.put(in.text(), Traits.decode(in));
    }
    return watch;
  }
}
