package io.lifeline.jobs.archive.report;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/**
 * The bottleneck stage of a copy, and the certainty of that result.
 *
 * <p>A stage is the bottleneck if it is at work (see {@link WorkShares}) for more than half of the time, and no other
 * stage for more than four fifths of that: NetLogger's tools required the slowest rate to be 20 % below the next one.
 * The certainty comes from a circular block bootstrap over time: the run is cut into slices of equal length, runs of
 * neighbouring slices are drawn with replacement (neighbours are correlated, so slices are not drawn one by one), and
 * the rule is applied again, 2,000 times. Below 95 % agreement the answer is {@code none}. The t-test of papers/003
 * between rates would overstate the certainty: rates of neighbouring blocks are not independent.
 *
 * @param stage null for none
 * @param shares part of the time for which each stage was at work, by {@link Stage#ordinal}; null if unknown
 * @param low with {@code high}, a 95 % interval of the largest share
 * @param certainty part of the resamples in which the rule names the stage with the largest share
 * @param reason why there is no answer; null if there is one
 */
public record Bottleneck(Stage stage, double[] shares, double low, double high, double certainty, String reason) {
  /** Minimum number of blocks to resample. */
  private static final int MIN_BLOCKS = 40;

  private static final int SLICES = 200;
  private static final int BLOCKS_PER_SLICE = 4;
  private static final int RESAMPLES = 2_000;
  private static final double ENOUGH_WORK = 0.5;
  private static final double NEXT_AT_MOST = 0.8;
  private static final double ENOUGH_CERTAINTY = 0.95;

  /** If a larger part of the blocks was received before it was sent, the clocks disagree. */
  private static final double TOLERATED_BACKWARDS = 0.05;

  /** Finds the bottleneck from the lifelines of blocks. */
  static Bottleneck of(List<Lifeline> lifelines) {
    if (lifelines.isEmpty()) {
      return unknown("no block has all of " + String.join(", ", Lifeline.WAY) + ", each with .start and .end");
    }
    if (lifelines.size() < MIN_BLOCKS) {
      return unknown("only " + lifelines.size() + " blocks have a whole lifeline, and " + MIN_BLOCKS + " are needed");
    }
    long backwards = lifelines.stream()
        .filter(block -> block.end(Lifeline.RECEIVE) < block.start(Lifeline.SEND)).count();
    if (backwards > TOLERATED_BACKWARDS * lifelines.size()) {
      return unknown(backwards + " blocks were received before they were sent: the two machines' clocks disagree,"
          + " synchronise them");
    }
    int slices = Math.min(SLICES, lifelines.size() / BLOCKS_PER_SLICE);
    return resample(WorkShares.slices(lifelines, slices));
  }

  private static Bottleneck unknown(String reason) {
    return new Bottleneck(null, null, 0, 0, 0, reason);
  }

  private static Bottleneck resample(List<WorkShares.Slice> slices) {
    double[] shares = shares(slices);
    int top = indexOfLargest(shares);
    // A fixed seed: the same archive always gives the same answer.
    SplittableRandom random = new SplittableRandom(slices.size());
    int runLength = (int) Math.ceil(Math.cbrt(slices.size()));
    double[] topShares = new double[RESAMPLES];
    int agreements = 0;
    for (int i = 0; i < RESAMPLES; i++) {
      double[] resampled = shares(draw(slices, runLength, random));
      topShares[i] = resampled[top];
      agreements += isBottleneck(top, resampled) ? 1 : 0;
    }
    Arrays.sort(topShares);
    double certainty = (double) agreements / RESAMPLES;
    Stage stage = certainty >= ENOUGH_CERTAINTY ? Stage.values()[top] : null;
    int tail = RESAMPLES / 40;
    return new Bottleneck(stage, shares, topShares[tail], topShares[RESAMPLES - 1 - tail], certainty, null);
  }

  private static boolean isBottleneck(int stage, double[] shares) {
    boolean leads = shares[stage] > ENOUGH_WORK;
    for (int other = 0; other < shares.length; other++) {
      leads &= other == stage || shares[other] <= NEXT_AT_MOST * shares[stage];
    }
    return leads;
  }

  private static WorkShares.Slice[] draw(List<WorkShares.Slice> slices, int runLength, SplittableRandom random) {
    WorkShares.Slice[] drawn = new WorkShares.Slice[slices.size()];
    int at = 0;
    for (int i = 0; i < drawn.length; i++) {
      at = i % runLength == 0 ? random.nextInt(drawn.length) : (at + 1) % drawn.length;
      drawn[i] = slices.get(at);
    }
    return drawn;
  }

  private static double[] shares(List<WorkShares.Slice> slices) {
    return shares(slices.toArray(new WorkShares.Slice[0]));
  }

  private static double[] shares(WorkShares.Slice[] slices) {
    double[] shares = new double[Stage.values().length];
    double length = 0;
    for (WorkShares.Slice slice : slices) {
      length += slice.lengthNs;
      for (int i = 0; i < shares.length; i++) {
        shares[i] += slice.workNs[i];
      }
    }
    for (int i = 0; i < shares.length; i++) {
      shares[i] = length == 0 ? 0 : shares[i] / length;
    }
    return shares;
  }

  private static int indexOfLargest(double[] values) {
    int top = 0;
    for (int i = 1; i < values.length; i++) {
      top = values[i] > values[top] ? i : top;
    }
    return top;
  }

  /** Returns the last line of the report, without its {@code bottleneck: }. */
  public String sentence() {
    if (reason != null) {
      return "none (" + reason + ")";
    }
    List<Stage> ordered = Arrays.stream(Stage.values())
        .sorted(Comparator.comparingDouble((Stage s) -> -shares[s.ordinal()])).toList();
    String all = ordered.stream().map(s -> s.label() + " " + percent(shares[s.ordinal()]))
        .collect(Collectors.joining(", "));
    if (stage == null) {
      return "none (no stage is clearly ahead; at work, waiting excluded: " + all + ")";
    }
    return String.format(Locale.ROOT,
        "%s (certainty %s; at work, waiting excluded: %s; 95 %% interval of the first %s to %s)",
        stage.label(), percent(certainty), all, percent(low), percent(high));
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.0f %%", 100 * share);
  }
}
