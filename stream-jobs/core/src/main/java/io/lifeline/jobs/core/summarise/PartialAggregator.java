package io.lifeline.jobs.core.summarise;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.ColumnarBatch.Columns;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.RouteKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.WeakHashMap;
import java.util.stream.IntStream;

/**
 * The first stage of summarise: aggregates one batch, column by column, into one {@link Partial} per window and
 * summary. Keeps no data between batches. Used by one thread.
 */
public final class PartialAggregator {

  private static final long NS_PER_MS = 1_000_000;

  /** Maximum number per batch: each takes a kilobyte, and a batch of 65,000 events may touch as many windows. */
  private static final int MAX_PARTIALS = 10_000;

  private final SummariseSettings settings;
  private final Metrics.Counter skewed;
  private final Metrics.Counter early;
  private final Metrics.Counter scattered;
  private double[] converted = new double[0];

  /** Weak keys, so that unused types are released: an emitter may send new types without limit. */
  private final Map<EventType, int[]> selectedFields = new WeakHashMap<>();

  public PartialAggregator(SummariseSettings settings, Metrics metrics) {
    this.settings = settings;
    this.skewed =
        metrics.counter(
            "lifeline_summarise_skewed_total", "Events further ahead of broker time than summarise.skew allows.");
    this.early =
        metrics.counter(
            "lifeline_summarise_early_values_total",
            "Values left out: their window is further ahead than summarise.late.");
    this.scattered =
        metrics.counter(
            "lifeline_summarise_scattered_values_total",
            "Values left out: their batch touches more than " + MAX_PARTIALS + " windows.");
  }

  /**
   * Contributions of a batch.
   *
   * @param partials contributions to windows; may be empty
   * @param progress progress of the batch's emitter, even if there is no partial
   */
  public record Result(List<Partial> partials, Progress progress) {}

  public Result aggregate(BatchReader batch, Position position) {
    List<Columns> groups = batch.columns().groups();
    long brokerNs = position.brokerTimeMs() * NS_PER_MS;
    Progress progress =
        new Progress(RouteKey.of(batch), progressTime(groups, brokerNs), position.brokerTimeMs(), batch.isFinal());
    Windows windows = new Windows(brokerNs + settings.lateNs());
    for (Columns group : groups) {
      for (int field : selectedFields.computeIfAbsent(group.type(), this::select)) {
        windows.key = SummaryKey.of(settings, batch, group.type(), group.type().fields().get(field));
        addColumn(group, field, windows);
      }
    }
    return new Result(windows.partials(progress), progress);
  }

  private int[] select(EventType type) {
    List<Field> fields = type.fields();
    return IntStream.range(0, fields.size())
        .filter(i -> isNumber(fields.get(i).type()) && settings.selects(type.name(), fields.get(i).name()))
        .toArray();
  }

  private static boolean isNumber(FieldType type) {
    return type.isFloating() || type.isIntegral() && type != FieldType.BOOL;
  }

  /**
   * Returns the emitter's progress. A batch without a usable time, because it has only counters or its clock is ahead,
   * must not hold back the windows of all emitters: it counts as late as an emitter may be without being idle.
   */
  private long progressTime(List<Columns> groups, long brokerNs) {
    long newest = newestTime(groups, brokerNs + settings.skewNs());
    return newest == Long.MIN_VALUE ? brokerNs - settings.idleNs() : newest;
  }

  /** Returns the newest time up to the limit, or {@link Long#MIN_VALUE}; counts later ones as skewed. */
  private long newestTime(List<Columns> groups, long limitNs) {
    long newest = Long.MIN_VALUE;
    long beyond = 0;
    for (Columns group : groups) {
      long[] times = group.timeNs();
      for (int i = 0; i < group.size(); i++) {
        if (times[i] <= limitNs) {
          newest = Math.max(newest, times[i]);
        } else {
          beyond++;
        }
      }
    }
    skewed.add(beyond);
    return newest;
  }

  private void addColumn(Columns group, int field, Windows windows) {
    double[] values = values(group, field);
    long[] times = group.timeNs();
    int size = group.size();
    int from = 0;
    while (from < size) {
      long start = Math.floorDiv(times[from], settings.windowNs()) * settings.windowNs();
      int to = endOfRun(times, from, size, start);
      windows.aggregate(start).add(values, from, to);
      from = to;
    }
  }

  /** Returns the end (exclusive) of the run of events in the window. */
  private int endOfRun(long[] times, int from, int size, long start) {
    long lengthNs = settings.windowNs();
    int to = from + 1;
    while (to < size && times[to] >= start && times[to] - start < lengthNs) {
      to++;
    }
    return to;
  }

  private double[] values(Columns group, int field) {
    FieldType type = group.type().fields().get(field).type();
    if (type.isFloating()) {
      return group.doubles(field);
    }
    long[] longs = group.longs(field);
    int size = group.size();
    if (converted.length < size) {
      converted = new double[longs.length];
    }
    if (type == FieldType.U64) {
      for (int i = 0; i < size; i++) {
        converted[i] = unsigned(longs[i]);
      }
    } else {
      for (int i = 0; i < size; i++) {
        converted[i] = longs[i];
      }
    }
    return converted;
  }

  private static double unsigned(long bits) {
    return bits >= 0 ? bits : ((bits >>> 1) | (bits & 1)) * 2.0;
  }

  /** The aggregates of one batch. */
  private final class Windows {
    private final Map<Long, Map<String, Aggregate>> byStart = new TreeMap<>();
    private final Aggregate tooEarly = new Aggregate();
    private final Aggregate tooMany = new Aggregate();
    private final long limitNs;
    private int count;
    private String key;

    Windows(long limitNs) {
      this.limitNs = limitNs;
    }

    Aggregate aggregate(long start) {
      if (start > limitNs) {
        return tooEarly;
      }
      Map<String, Aggregate> byKey = byStart.get(start);
      Aggregate known = byKey == null ? null : byKey.get(key);
      return known != null ? known : count < MAX_PARTIALS ? added(start) : tooMany;
    }

    private Aggregate added(long start) {
      count++;
      Aggregate aggregate = new Aggregate();
      byStart.computeIfAbsent(start, s -> new HashMap<>()).put(key, aggregate);
      return aggregate;
    }

    List<Partial> partials(Progress progress) {
      early.add(tooEarly.values());
      scattered.add(tooMany.values());
      List<Partial> partials = new ArrayList<>();
      byStart.forEach(
          (start, byKey) ->
              byKey.forEach((name, aggregate) -> partials.add(new Partial(start, name, aggregate, progress))));
      return partials;
    }
  }
}
