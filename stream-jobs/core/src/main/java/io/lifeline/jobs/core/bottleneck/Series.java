package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/** The newest samples of one component, as the numbers that are analysed. */
final class Series {

  /** Maximum number of samples: four minutes at one sample per second. */
  static final int CAPACITY = 240;

  /** A gap of more intervals than this is a pause, which does not reduce the throughput. */
  private static final int LONGEST_GAP = 10;

  private static final double LEAST_UNEVENNESS = 1e-3;

  private static final long FORGET_EMITTER_NS = 600_000_000_000L;

  /** Bounds the size of a group, which is saved as one value: a program may be restarted often. */
  private static final int MAX_EMITTERS = 1_000;

  /**
   * @param rate logarithm of bytes per second if all threads were at work
   * @param unevenness logarithm of the coefficient of variation of the durations; NaN for too few
   * @param throughput logarithm of bytes per second of elapsed time
   * @param use work per time of all threads; of unknown threads, the largest possible
   * @param threads of the sample's emitter; 0 if unknown
   * @param spanNs time that it covers
   */
  private record Point(
      long timeNs, double rate, double unevenness, double throughput, double use, double threads, double spanNs) {

    /** Returns the time of all threads. */
    double weight() {
      return Math.max(1, threads) * spanNs;
    }
  }

  /**
   * One emitter's latest sample.
   *
   * @param threads the most of any sample in the last intervals: slow operations end in few intervals, so that one
   *     interval shows only some of the threads
   * @param threadsNs when that sample ended
   */
  private record Newest(long endNs, long threads, long threadsNs) {}

  /** A change in one of the component's numbers, and the end of the last sample before it. */
  record Change(long timeNs, ChangePoint point) {}

  private final List<Point> points = new ArrayList<>();

  private long newestNs = Long.MIN_VALUE;

  /** By emitter, since each has its own intervals. */
  private final TreeMap<String, Newest> emitters = new TreeMap<>();

  /** Inserts a sample by time: emitters report independently, so samples may arrive out of order. */
  void add(Sample sample) {
    Newest last = emitters.get(sample.emitter());
    double spanNs = spanNs(sample, last);
    long threads = threads(sample, last);
    remember(sample, threads, last);
    newestNs = Math.max(newestNs, sample.endNs());
    int at = points.size();
    while (at > 0 && points.get(at - 1).timeNs() > sample.endNs()) {
      at--;
    }
    points.add(
        at,
        new Point(
            sample.endNs(),
            Math.log(sample.workRate() * Math.max(1, threads)),
            Math.log(Math.max(LEAST_UNEVENNESS, sample.unevenness())),
            Math.log(sample.bytes() / spanNs * 1e9),
            threads > 0 ? sample.busyNs() / threads / spanNs : Math.min(1, sample.busyNs() / spanNs),
            threads,
            spanNs));
    if (points.size() > CAPACITY) {
      points.remove(0);
    }
  }

  /** Returns the time that a sample covers: slow operations leave empty intervals before it, which are included. */
  private static double spanNs(Sample sample, Newest last) {
    boolean isPause = last == null || sample.endNs() - last.endNs > LONGEST_GAP * sample.intervalNs();
    return isPause ? sample.intervalNs() : Math.max(sample.intervalNs(), sample.endNs() - last.endNs);
  }

  private static long threads(Sample sample, Newest last) {
    boolean isKept = last != null && sample.threads() > 0
        && sample.endNs() - last.threadsNs <= LONGEST_GAP * sample.intervalNs();
    return isKept ? Math.max(sample.threads(), last.threads) : sample.threads();
  }

  private void remember(Sample sample, long threads, Newest last) {
    boolean isOfBefore = last != null && threads > sample.threads();
    emitters.put(sample.emitter(), new Newest(sample.endNs(), threads, isOfBefore ? last.threadsNs : sample.endNs()));
    emitters.values().removeIf(newest -> newest.endNs < sample.endNs() - FORGET_EMITTER_NS);
    if (emitters.size() > MAX_EMITTERS) {
      emitters.remove(
          Collections.min(emitters.entrySet(), Map.Entry.comparingByValue(Comparator.comparingLong(Newest::endNs)))
              .getKey());
    }
  }

  /** Returns the span of the newest sample; 0 without samples. */
  double spanNs() {
    return points.isEmpty() ? 0 : points.get(points.size() - 1).spanNs();
  }

  /** Returns the time of the oldest sample that is kept; at most {@link #newestNs} without samples. */
  long oldestNs() {
    return points.isEmpty() ? newestNs : points.get(0).timeNs();
  }

  /** Returns the end of the newest sample, even if that is no longer kept. */
  long newestNs() {
    return newestNs;
  }

  /** Returns the clearest change of the rate, unevenness or throughput; null if none has that score. */
  Change clearestChange(double leastScore) {
    Change clearest = null;
    for (ToDoubleFunction<Point> number : List.<ToDoubleFunction<Point>>of(
        Point::rate, Point::unevenness, Point::throughput)) {
      double[] values = points.stream().mapToDouble(number).toArray();
      boolean isComplete = Arrays.stream(values).allMatch(Double::isFinite);
      ChangePoint found = isComplete ? ChangePoint.find(values, leastScore) : null;
      if (found != null && (clearest == null || found.score() > clearest.point().score())) {
        clearest = new Change(points.get(found.at() - 1).timeNs(), found);
      }
    }
    return clearest;
  }

  ComponentStats traits() {
    return traits(points);
  }

  /** Returns the traits of the samples after one time and up to another. */
  ComponentStats traits(long afterNs, long untilNs) {
    return traits(points.stream().filter(point -> point.timeNs() > afterNs && point.timeNs() <= untilNs).toList());
  }

  /** Removes the samples up to that time, and returns their traits. */
  ComponentStats cutAt(long timeNs) {
    List<Point> before = points.stream().filter(point -> point.timeNs() <= timeNs).toList();
    points.removeIf(point -> point.timeNs() <= timeNs);
    return traits(before);
  }

  /**
   * Weights rates by the work that shows them: an interval of a few operations that a cache or a buffer answered says
   * little about a component that works for the whole of the next one.
   */
  private static ComponentStats traits(List<Point> points) {
    return new ComponentStats(
        points.size(),
        Level.of(numbers(points, Point::rate), numbers(points, Point::use)),
        level(points, Point::unevenness),
        level(points, Point::throughput),
        Level.of(numbers(points, Point::use), numbers(points, Point::weight)),
        points.stream().allMatch(point -> point.threads() > 0)
            ? points.stream().mapToDouble(Point::threads).average().orElse(0)
            : 0,
        points.stream().mapToDouble(Point::use).min().orElse(0),
        points.stream().mapToDouble(Point::use).max().orElse(0));
  }

  private static Level level(List<Point> points, ToDoubleFunction<Point> number) {
    return Level.of(numbers(points, number));
  }

  private static double[] numbers(List<Point> points, ToDoubleFunction<Point> number) {
    return points.stream().mapToDouble(number).toArray();
  }

  void encode(StateWriter out) {
    out.fixed64(newestNs).varint(points.size());
    for (Point point : points) {
      out.zigzag(point.timeNs).real(point.rate).real(point.unevenness).real(point.throughput).real(point.use)
          .real(point.threads).real(point.spanNs);
    }
    out.varint(emitters.size());
    emitters.forEach(
        (emitter, newest) -> out.text(emitter).zigzag(newest.endNs).varint(newest.threads).zigzag(newest.threadsNs));
  }

  static Series decode(StateReader in) {
    Series series = new Series();
    series.newestNs = in.fixed64();
    for (int left = in.count(49); left > 0; left--) {
      series.points.add(
          new Point(in.zigzag(), in.real(), in.real(), in.real(), in.real(), in.real(), in.real()));
    }
    for (int left = in.count(4); left > 0; left--) {
      series.emitters.put(in.text(), new Newest(in.zigzag(), in.varint(), in.zigzag()));
    }
    return series;
  }
}
