package io.lifeline.console.index;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.Function;
import java.util.function.IntPredicate;

/**
 * The slowest passages of a span, and what they share: the programs, hosts and processes in which slow passages end
 * more often than passages in general.
 *
 * @param passages the slowest ones, slowest first
 * @param count number of all passages
 * @param shares of the passages above the 95th percentile, most conspicuous first
 */
public record Slowest(List<Found> passages, int count, List<Share> shares) {
  private static final double SLOW = 0.95;
  /** A property is worth a line if this much more of the slow ones have it. */
  private static final double CONSPICUOUS = 0.1;

  /** @param event at the end of the passage */
  public record Found(int event, long durationNs) {}

  /**
   * @param slow share of the slow passages with this value, from 0 to 1
   * @param all share of all passages with this value
   */
  public record Share(String property, String value, double slow, double all) {}

  public static Slowest of(Snapshot snapshot, Span span, IntPredicate origin, Passage passage, int most) {
    Durations durations = Durations.of(snapshot, span, origin, passage);
    long limit = durations.quantile(SLOW);
    PriorityQueue<Found> slowest = new PriorityQueue<>(Comparator.comparingLong(Found::durationNs));
    int[] all = new int[snapshot.origins().size()];
    int[] slow = new int[snapshot.origins().size()];
    passage.forEach(snapshot, span, origin, (event, duration) -> {
      all[snapshot.originNumber(event)]++;
      slow[snapshot.originNumber(event)] += duration >= limit ? 1 : 0;
      if (slowest.size() < most || duration > slowest.peek().durationNs) {
        slowest.add(new Found(event, duration));
        if (slowest.size() > most) {
          slowest.poll();
        }
      }
    });
    List<Found> passages = new ArrayList<>(slowest);
    passages.sort(Comparator.comparingLong(Found::durationNs).reversed());
    List<Share> shares = new ArrayList<>();
    shares.addAll(shares("program", snapshot, all, slow, Origin::program));
    shares.addAll(shares("host", snapshot, all, slow, Origin::host));
    shares.addAll(shares("process", snapshot, all, slow, at -> at.program() + " " + at.pid() + " on " + at.host()));
    shares.sort(Comparator.comparingDouble((Share share) -> share.slow - share.all).reversed());
    return new Slowest(passages, durations.sorted().length, shares);
  }

  private static List<Share> shares(String property, Snapshot snapshot, int[] all, int[] slow,
      Function<Origin, String> value) {
    Map<String, int[]> counts = new HashMap<>();
    int total = 0;
    int totalSlow = 0;
    for (int i = 0; i < all.length; i++) {
      if (all[i] > 0) {
        int[] both = counts.computeIfAbsent(value.apply(snapshot.origins().get(i)), any -> new int[2]);
        both[0] += all[i];
        both[1] += slow[i];
        total += all[i];
        totalSlow += slow[i];
      }
    }
    List<Share> shares = new ArrayList<>();
    for (Map.Entry<String, int[]> entry : counts.entrySet()) {
      double ofAll = entry.getValue()[0] / (double) total;
      double ofSlow = entry.getValue()[1] / (double) totalSlow;
      if (ofSlow - ofAll >= CONSPICUOUS) {
        shares.add(new Share(property, entry.getKey(), ofSlow, ofAll));
      }
    }
    return shares;
  }
}
