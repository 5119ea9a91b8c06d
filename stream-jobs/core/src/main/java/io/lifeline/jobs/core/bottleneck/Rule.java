package io.lifeline.jobs.core.bottleneck;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Finds the bottleneck from measurements of components: the rule of papers/003 (Kissel et al., section IV.C), extended
 * by what its authors found missing.
 *
 * <ol>
 *   <li>The component with the lowest mean instantaneous throughput is the candidate. It is the bottleneck if Welch's
 *       t-test distinguishes it from every other component, and if it is slower than each by a fifth: with enough
 *       samples, even an irrelevant difference is significant.
 *   <li>A component that is idle for more than half of the time is not the bottleneck, however slow it is, and not
 *       mistaken for it: rates that vary widely, as those of a network with losses do, need no test against it.
 *   <li><b>A component that is as fast as before cannot be the reason for a lower throughput.</b> If throughput fell at
 *       the last change and the candidate's rate did not, then time passes where nothing is measured. This is how the
 *       paper's rule failed for UDT with loss: a read that finds nothing is not measured, the next one finds its data
 *       waiting and is fast, so that the network seemed to become faster when it broke down. The symptom is that its
 *       operations became uneven (the paper's Figure 5b); the component with this symptom is the bottleneck. If there
 *       is none, the bottleneck is not measured.
 * </ol>
 */
final class Rule {

  /** Minimum number of samples of each component, since the last change, for a verdict. */
  static final int LEAST_SAMPLES = 5;

  /** Maximum rate of the slowest component relative to every other; the same as in NetLogger's own tools. */
  private static final double NEXT_AT_MOST = Math.log(0.8);

  private static final double ENOUGH_WORK = 0.5;

  /** Minimum decrease of throughput that counts as a fall, in logarithms. */
  private static final double FALL = Math.log(0.8);

  /** A component explains a fall if its own rate fell by at least this part of it, in logarithms. */
  private static final double EXPLAINED = 0.5;

  /** Minimum factor by which operations must have become uneven. */
  private static final double UNEVENNESS = Math.log(1.3);

  /** Maximum probability of error, over all comparisons of one verdict. */
  private static final double ERROR = 0.01;

  private Rule() {}

  /**
   * @param now the components since the last change; at least two
   * @param before the components when their rates were last reliable; empty if unknown
   */
  static Verdict judge(Map<String, ComponentStats> now, Map<String, ComponentStats> before) {
    if (now.values().stream().anyMatch(traits -> traits.samples() < LEAST_SAMPLES)) {
      return Verdict.none(Verdict.Reason.TOO_LITTLE);
    }
    List<String> bySpeed = new ArrayList<>(now.keySet());
    bySpeed.sort(
        Comparator.comparing((String component) -> isIdle(now.get(component)))
            .thenComparingDouble(component -> now.get(component).rate().mean()));
    String slowest = bySpeed.get(0);
    boolean isIdle = isIdle(now.get(slowest));
    if (!isIdle && !isUnexplained(now.get(slowest), before.get(slowest))) {
      return bySpeed(bySpeed, now);
    }
    Verdict uneven = uneven(now, before);
    return uneven != null ? uneven : Verdict.none(isIdle ? Verdict.Reason.IDLE : Verdict.Reason.UNEXPLAINED);
  }

  private static boolean isIdle(ComponentStats component) {
    return component.busy() < ENOUGH_WORK;
  }

  /** @param bySpeed the components that work enough, the slowest first, then the others */
  private static Verdict bySpeed(List<String> bySpeed, Map<String, ComponentStats> now) {
    double busiest = now.get(bySpeed.get(0)).busy();
    Level slowest = now.get(bySpeed.get(0)).rate();
    List<String> alike = new ArrayList<>();
    double chance = 0;
    for (String other : bySpeed.subList(1, bySpeed.size())) {
      double chanceOfOther = (bySpeed.size() - 1) * slowest.chanceOfBeingBelow(now.get(other).rate());
      chance = Math.max(chance, Math.min(1, chanceOfOther));
      boolean isOut = isIdle(now.get(other)) && Math.log(now.get(other).busy() / busiest) <= NEXT_AT_MOST;
      if (!isOut && (chanceOfOther > ERROR || slowest.mean() - now.get(other).rate().mean() > NEXT_AT_MOST)) {
        alike.add(other);
      }
    }
    if (!alike.isEmpty()) {
      alike.add(0, bySpeed.get(0));
      return Verdict.alike(alike);
    }
    return Verdict.of(bySpeed.get(0), Verdict.Reason.SLOWEST, chance);
  }

  private static boolean isUnexplained(ComponentStats now, ComponentStats before) {
    if (before == null) {
      return false;
    }
    double fall = now.throughput().mean() - before.throughput().mean();
    double slower = now.rate().mean() - before.rate().mean();
    return fall <= FALL && slower > EXPLAINED * fall
        && now.throughput().chanceOfBeingBelow(before.throughput()) <= ERROR;
  }

  /** Names the component that became most uneven while its throughput fell; returns null if there is none. */
  private static Verdict uneven(Map<String, ComponentStats> now, Map<String, ComponentStats> before) {
    Verdict found = null;
    double most = UNEVENNESS;
    for (Map.Entry<String, ComponentStats> entry : now.entrySet()) {
      ComponentStats then = before.get(entry.getKey());
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
