package io.lifeline.jobs.core.bottleneck;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Finds the bottleneck from measurements of components: the rule of papers/003 (Kissel et al., section IV.C), extended
 * by what its authors found missing, and by the number of threads.
 *
 * <p>The paper compares bytes per second of work, which is a property of one thread: four threads that write 333 MB/s
 * together do less per second of work than one that reads 200. All components carry the same bytes, so the one that
 * could carry the fewest with all its threads at work is the one whose threads have the least time to idle. Components
 * are therefore compared by their <b>use</b>: work / (threads * time).
 *
 * <ol>
 *   <li>The component with the greatest use is the candidate. It is the bottleneck if Welch's t-test distinguishes it
 *       from every other component, and if the use of each is at most four fifths of its own: with enough samples, even
 *       an irrelevant difference is significant.
 *   <li>A component whose threads idle for much of the time is not the bottleneck, however slow it is: it could carry
 *       more. If no component is busy, the bottleneck is not measured. If one could be busy, but nobody knows how many
 *       threads it has, there is no answer.
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

  /** The same where a component is {@link #clearLimit}. */
  static final int LEAST_IF_CLEAR = 2;

  /** Maximum use of every other component relative to the busiest; the same as in NetLogger's own tools. */
  private static final double NEXT_AT_MOST = 0.8;

  /** The same in every sample, where few samples must do. */
  private static final double NEXT_IF_CLEAR = 2.0 / 3;

  /**
   * Minimum use of a bottleneck. In the real transfers of {@code results/bottleneck}, 97 of 100 components that were
   * the limit were at work for at least 0.69 of their time, and none of 194 others for more than 0.57: {@code
   * ReplayTest} checks it. A limit is at work for less than all of its time if part of its work is not measured.
   */
  static final double ENOUGH_WORK = 0.6;

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
    if (now.values().stream().anyMatch(traits -> traits.samples() < LEAST_SAMPLES) && clearLimit(now) == null) {
      return Verdict.none(Verdict.Reason.TOO_LITTLE);
    }
    List<String> byUse = byUse(now);
    String busiest = byUse.get(0);
    boolean isIdle = isIdle(now.get(busiest));
    if (!isIdle && isAnyUnknown(byUse, now)) {
      return Verdict.none(Verdict.Reason.THREADS_UNKNOWN);
    }
    if (!isIdle && !isUnexplained(now.get(busiest), before.get(busiest))) {
      return byUse(byUse, now);
    }
    Verdict uneven = uneven(now, before);
    return uneven != null ? uneven : Verdict.none(isIdle ? Verdict.Reason.IDLE : Verdict.Reason.UNEXPLAINED);
  }

  /**
   * Returns the component that is busy in every sample, while all others are much less so in each; null if there is
   * none, or less than two samples.
   */
  static String clearLimit(Map<String, ComponentStats> now) {
    if (now.size() < 2 || now.values().stream().anyMatch(traits -> traits.samples() < LEAST_IF_CLEAR)) {
      return null;
    }
    String busiest = byUse(now).get(0);
    double least = now.get(busiest).leastUse();
    boolean isClear = now.get(busiest).areThreadsKnown() && least >= ENOUGH_WORK
        && now.entrySet().stream().allMatch(
            entry -> entry.getKey().equals(busiest) || entry.getValue().mostUse() <= NEXT_IF_CLEAR * least);
    return isClear ? busiest : null;
  }

  /** Returns the components, the busiest first. */
  private static List<String> byUse(Map<String, ComponentStats> now) {
    List<String> byUse = new ArrayList<>(now.keySet());
    byUse.sort(Comparator.comparingDouble(component -> -now.get(component).use().mean()));
    return byUse;
  }

  private static boolean isIdle(ComponentStats component) {
    return component.use().mean() < ENOUGH_WORK;
  }

  private static boolean isFarBehind(ComponentStats component, ComponentStats busiest) {
    return component.use().mean() <= NEXT_AT_MOST * busiest.use().mean();
  }

  /** Returns whether a component of unknown threads could be the busiest, with as few threads as possible. */
  private static boolean isAnyUnknown(List<String> byUse, Map<String, ComponentStats> now) {
    ComponentStats busiest = now.get(byUse.get(0));
    return byUse.stream().map(now::get)
        .anyMatch(component -> !component.areThreadsKnown() && !isFarBehind(component, busiest));
  }

  private static Verdict byUse(List<String> byUse, Map<String, ComponentStats> now) {
    ComponentStats busiest = now.get(byUse.get(0));
    List<String> alike = new ArrayList<>();
    boolean isCertain = true;
    double chance = 0;
    for (String other : byUse.subList(1, byUse.size())) {
      double chanceOfOther = (byUse.size() - 1) * now.get(other).use().chanceOfBeingBelow(busiest.use());
      chance = Math.max(chance, chanceOfOther);
      if (chanceOfOther > ERROR || !isFarBehind(now.get(other), busiest)) {
        alike.add(other);
        isCertain &= now.get(other).mostUse() > NEXT_IF_CLEAR * busiest.leastUse();
      }
    }
    if (!isCertain) { // a sample that was disturbed makes them vary, but none of them overlap
      return Verdict.none(Verdict.Reason.TOO_LITTLE);
    }
    if (!alike.isEmpty()) {
      alike.add(0, byUse.get(0));
      return Verdict.alike(alike);
    }
    return Verdict.of(byUse.get(0), Verdict.Reason.SLOWEST, chance);
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
