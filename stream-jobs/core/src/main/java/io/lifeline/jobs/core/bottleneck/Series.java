package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
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
   * @param rate logarithm of bytes per second of work
   * @param unevenness logarithm of the coefficient of variation of the durations; NaN for too few
   * @param throughput logarithm of bytes per second of elapsed time
   * @param busy seconds of work per second of elapsed time
   */
  private record Point(long timeNs, double rate, double unevenness, double throughput, double busy) {}

  /** A change in one of the component's numbers, and when the new level began. */
  record Change(long timeNs, ChangePoint point) {}

  private final List<Point> points = new ArrayList<>();

  private long newestNs = Long.MIN_VALUE;

  /** End of the last sample by emitter, since each has its own intervals. */
  private final TreeMap<String, Long> lastEnds = new TreeMap<>();

  /** Inserts a sample by time: emitters report independently, so samples may arrive out of order. */
  void add(Sample sample) {
    double spanNs = spanNs(sample);
    newestNs = Math.max(newestNs, sample.endNs());
    int at = points.size();
    while (at > 0 && points.get(at - 1).timeNs() > sample.endNs()) {
      at--;
    }
    points.add(
        at,
        new Point(
            sample.endNs(),
            Math.log(sample.workRate()),
            Math.log(Math.max(LEAST_UNEVENNESS, sample.unevenness())),
            Math.log(sample.bytes() / spanNs * 1e9),
            sample.busyNs() / spanNs));
    if (points.size() > CAPACITY) {
      points.remove(0);
    }
  }

  /** Returns the time that a sample covers: slow operations leave empty intervals before it, which are included. */
  private double spanNs(Sample sample) {
    Long lastEnd = lastEnds.put(sample.emitter(), sample.endNs());
    lastEnds.values().removeIf(endNs -> endNs < sample.endNs() - FORGET_EMITTER_NS);
    if (lastEnds.size() > MAX_EMITTERS) {
      lastEnds.remove(Collections.min(lastEnds.entrySet(), Map.Entry.comparingByValue()).getKey());
    }
    boolean isPause = lastEnd == null || sample.endNs() - lastEnd > LONGEST_GAP * sample.intervalNs();
    return isPause ? sample.intervalNs() : Math.max(sample.intervalNs(), sample.endNs() - lastEnd);
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
        clearest = new Change(points.get(found.at()).timeNs(), found);
      }
    }
    return clearest;
  }

  ComponentStats traits() {
    return traits(points);
  }

  /** Removes the samples before that time, and returns their traits. */
  ComponentStats cutAt(long timeNs) {
    List<Point> before = points.stream().filter(point -> point.timeNs() < timeNs).toList();
    points.removeIf(point -> point.timeNs() < timeNs);
    return traits(before);
  }

  /**
   * Weights rates by the work that shows them: an interval of a few operations that a cache or a buffer answered says
   * little about a component that works for the whole of the next one.
   */
  private static ComponentStats traits(List<Point> points) {
    return new ComponentStats(
        points.size(),
        Level.of(numbers(points, Point::rate), numbers(points, Point::busy)),
        level(points, Point::unevenness),
        level(points, Point::throughput),
        points.stream().mapToDouble(Point::busy).average().orElse(0));
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
      out.zigzag(point.timeNs).real(point.rate).real(point.unevenness).real(point.throughput).real(point.busy);
    }
    out.varint(lastEnds.size());
    lastEnds.forEach((emitter, endNs) -> out.text(emitter).zigzag(endNs));
  }

  static Series decode(StateReader in) {
    Series series = new Series();
    series.newestNs = in.fixed64();
    for (int left = in.count(33); left > 0; left--) {
      series.points.add(new Point(in.zigzag(), in.real(), in.real(), in.real(), in.real()));
    }
    for (int left = in.count(2); left > 0; left--) {
      series.lastEnds.put(in.text(), in.zigzag());
    }
    return series;
  }
}
