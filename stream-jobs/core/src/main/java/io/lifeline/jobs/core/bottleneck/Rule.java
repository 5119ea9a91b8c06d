package io.lifeline.jobs.core.bottleneck;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * How the bottleneck is told from what components did: the rule of papers/003 (Kissel et al., section IV.C), with what
 * its authors found missing.
 *
 * <ol>
 *   <li>The component with the lowest mean instantaneous throughput is the candidate. It is named if Welch's t-test
 *       tells it from every other, and if it is slower than each by a fifth: enough samples tell any two apart, and a
 *       difference that nobody would act on is none.
 *   <li>A component that idles for more than half of the time holds nobody up, however slow it is.
 *   <li><b>A component that is as fast as before cannot be why the whole became slower.</b> If throughput fell at the
 *       last change and the candidate's rate did not, then time passes where nothing is measured. That is how the
 *       paper's rule went wrong for UDT with loss: a read that finds nothing is not measured, the next one finds its
 *       data waiting and is fast, so that the network seemed to become faster when it broke down. What gives it away
 *       is that its operations became uneven (the paper's Figure 5b); the component whose did is named. If none did,
 *       what holds things up is not measured, and none is named.
 * </ol>
 */
final class Rule {

  /** Samples of each component, since the last change, that an answer needs. */
  static final int LEAST_SAMPLES = 5;

  /** By this much the slowest must be below the next one; so NetLogger's own tools had it. */
  private static final double NEXT_AT_MOST = Math.log(0.8);

  private static final double ENOUGH_WORK = 0.5;

  /** What is taken for a fall of the throughput. */
  private static final double FALL = Math.log(0.8);

  /** A component explains a fall if its own rate fell by at least this part of it, in logarithms. */
  private static final double EXPLAINED = 0.5;

  /** By this factor operations must have become uneven. */
  private static final double UNEVENNESS = Math.log(1.3);

  /** The probability of error that is allowed, over all comparisons of one answer. */
  private static final double ERROR = 0.01;

  private Rule() {}

  /**
   * @param now how the components are since the last change, two at least
   * @param before how they were when the rates could be relied upon last; empty if that is not known
   */
  static Verdict judge(Map<String, Traits> now, Map<String, Traits> before) {
    if (now.values().stream().anyMatch(traits -> traits.samples() < LEAST_SAMPLES)) {
      return Verdict.none(Verdict.Reason.TOO_LITTLE);
    }
    List<String> bySpeed = new ArrayList<>(now.keySet());
    bySpeed.sort(Comparator.comparingDouble(component -> now.get(component).rate().mean()));
    String slowest = bySpeed.get(0);
    boolean isIdle = now.get(slowest).busy() < ENOUGH_WORK;
    if (!isIdle && !isUnexplained(now.get(slowest), before.get(slowest))) {
      return bySpeed(bySpeed, now);
    }
    Verdict uneven = uneven(now, before);
    return uneven != null ? uneven : Verdict.none(isIdle ? Verdict.Reason.IDLE : Verdict.Reason.UNEXPLAINED);
  }

  private static Verdict bySpeed(List<String> bySpeed, Map<String, Traits> now) {
    Level slowest = now.get(bySpeed.get(0)).rate();
    List<String> alike = new ArrayList<>();
    double chance = 0;
    for (String other : bySpeed.subList(1, bySpeed.size())) {
      double chanceOfOther = (bySpeed.size() - 1) * slowest.chanceOfBeingBelow(now.get(other).rate());
      chance = Math.max(chance, Math.min(1, chanceOfOther));
      if (chanceOfOther > ERROR || slowest.mean() - now.get(other).rate().mean() > NEXT_AT_MOST) {
        alike.add(other);
      }
    }
    if (!alike.isEmpty()) {
      alike.add(0, bySpeed.get(0));
      return Verdict.alike(alike);
    }
    return Verdict.of(bySpeed.get(0), Verdict.Reason.SLOWEST, chance);
  }

  private static boolean isUnexplained(Traits now, Traits before) {
    if (before == null) {
      return false;
    }
    double fall = now.throughput().mean() - before.throughput().mean();
    double slower = now.rate().mean() - before.rate().mean();
    return fall <= FALL && slower > EXPLAINED * fall
        && now.throughput().chanceOfBeingBelow(before.throughput()) <= ERROR;
  }

  /** The component that became more uneven than any other, if one did while throughput fell. */
  private static Verdict uneven(Map<String, Traits> now, Map<String, Traits> before) {
    Verdict found = null;
    double most = UNEVENNESS;
    for (Map.Entry<String, Traits> entry : now.entrySet()) {
      Traits then = before.get(entry.getKey());
      Level unevenness = entry.getValue().unevenness();
      if (then == null || !unevenness.isKnown() || !then.unevenness().isKnown()) {
        continue;
      }
      double rise = unevenness.mean() - then.unevenness().mean();
      double chance = now.size() * then.unevenness().chanceOfBeingBelow(unevenness);
      boolean fell = entry.getValue().throughput().mean() - then.throughput().mean() <= FALL;
      if (fell && rise >= most && chance <= ERROR) {
        most = rise;
        found = Verdict.of(entry.getKey(), Verdict.Reason.UNEVEN, chance);
      }
    }
    return found;
  }
}
