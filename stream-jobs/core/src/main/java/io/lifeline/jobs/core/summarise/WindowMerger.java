package io.lifeline.jobs.core.summarise;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The second stage of summarise: merges partials with equal window and key into one summary. A window is published when
 * all events before its end are expected to have arrived, and again as a new revision when late data has changed it. It
 * is removed when its time for late data has passed (see {@link Watermark}). Used by one thread.
 *
 * <p>A host calls {@link #merge} for each partial and then {@link #observe} for the batch's progress, {@link
 * #punctuate} every second and as soon as a window is due ({@link #isDue}), and {@link #save} before it makes the state
 * durable.
 */
public final class WindowMerger {

  /** Name of the counter of values merged into windows. */
  public static final String VALUES = "lifeline_summarise_values_total";

  private static final String PREFIX = "summarise/window/";

  private record WindowKey(long startNs, String key) {
    String stateKey() {
      return PREFIX + startNs + "/" + key;
    }

    static WindowKey parse(String stateKey) {
      int slash = stateKey.indexOf('/', PREFIX.length());
      return new WindowKey(
          Long.parseLong(stateKey, PREFIX.length(), slash, 10), stateKey.substring(slash + 1));
    }
  }

  private final SummariseSettings settings;
  private final KeyedState state;
  private final Watermark watermark;
  private final TreeMap<Long, Map<String, Window>> windows = new TreeMap<>();
  private final Set<WindowKey> changed = new HashSet<>();
  private final Metrics.Counter values;
  private final Metrics.Counter published;
  private final Metrics.Counter revised;
  private final Metrics.Counter lateValues;
  private final Metrics.Counter overflowValues;
  private int open;

  public WindowMerger(SummariseSettings settings, KeyedState state, Metrics metrics) {
    this.settings = settings;
    this.state = state;
    this.watermark = new Watermark(state, settings.idleNs());
    this.values = metrics.counter(VALUES, "Values taken into windows.");
    this.published = metrics.counter("lifeline_summarise_published_total", "Summaries published, revisions included.");
    this.revised = metrics.counter("lifeline_summarise_revised_total", "Summaries published again for late data.");
    this.lateValues =
        metrics.counter(
            "lifeline_summarise_late_values_total", "Values left out: they arrived after summarise.late.");
    this.overflowValues = overflowValues(metrics);
    state.scan(
        PREFIX,
        (stateKey, value) -> {
          WindowKey key = WindowKey.parse(stateKey);
          windowsAt(key.startNs()).put(key.key(), Window.decode(value));
          open++;
        });
  }

  /** Returns the counter of values left out because too many windows were open. */
  static Metrics.Counter overflowValues(Metrics metrics) {
    return metrics.counter(
        "lifeline_summarise_overflow_values_total",
        "Values left out: summarise.max.windows were open.");
  }

  public void merge(Partial partial) {
    merge(partial.windowStartNs(), partial.key(), partial.aggregate());
  }

  void merge(long startNs, String key, Aggregate aggregate) {
    if (isOver(startNs)) {
      lateValues.add(aggregate.values());
      return;
    }
    Window window = windows.getOrDefault(startNs, Map.of()).get(key);
    if (window == null) {
      if (open >= settings.maxWindows()) {
        overflowValues.add(aggregate.values());
        return;
      }
      window = new Window();
      windowsAt(startNs).put(key, window);
      open++;
    }
    window.aggregate.merge(aggregate);
    values.add(aggregate.values());
    window.unpublished = true;
    changed.add(new WindowKey(startNs, key));
  }

  public void observe(Progress progress) {
    watermark.observe(progress);
  }

  /** Returns whether {@link #punctuate} would publish a window for the first time. */
  boolean isDue(long nowMs) {
    long closedNs = Math.max(watermark.arrivedNs(), Long.MIN_VALUE + settings.windowNs());
    Long next = windows.higherKey(closedNs - settings.windowNs());
    return next != null && next + settings.windowNs() <= watermark.arrivingNs(nowMs);
  }

  /**
   * Publishes and removes the windows that are due.
   *
   * @param nowMs the broker's time up to which input has been read
   * @param isComplete false while input older than all before may still arrive; then no window is removed
   */
  public void punctuate(long nowMs, boolean isComplete, Output output) {
    watermark.advance(nowMs, isComplete);
    for (var at : windows.entrySet()) {
      if (at.getKey() + settings.windowNs() > watermark.arrivedNs()) {
        break;
      }
      at.getValue().forEach((key, window) -> publish(new WindowKey(at.getKey(), key), window, output));
    }
    while (!windows.isEmpty() && isOver(windows.firstKey())) {
      long start = windows.firstKey();
      Map<String, Window> over = windows.remove(start);
      open -= over.size();
      over.keySet().forEach(key -> changed.add(new WindowKey(start, key)));
    }
  }

  public void save() {
    for (WindowKey key : changed) {
      Window window = windows.getOrDefault(key.startNs(), Map.of()).get(key.key());
      if (window == null) {
        state.delete(key.stateKey());
      } else {
        state.put(key.stateKey(), window.encode());
      }
    }
    changed.clear();
    watermark.save();
  }

  private boolean isOver(long startNs) {
    return startNs + settings.windowNs() + settings.lateNs() <= watermark.passedNs();
  }

  private Map<String, Window> windowsAt(long startNs) {
    return windows.computeIfAbsent(startNs, start -> new HashMap<>());
  }

  private void publish(WindowKey key, Window window, Output output) {
    if (!window.unpublished) {
      return;
    }
    window.unpublished = false;
    window.revision++;
    published.increment();
    if (window.revision > 1) {
      revised.increment();
    }
    changed.add(key);
    String upsertKey = SummariseJob.NAME + ":" + key.startNs() + ":" + key.key();
    output.send(
        Destination.SUMMARIES,
        upsertKey,
        upsertKey + ":" + window.revision,
        SummaryJson.of(key.startNs(), settings.windowNs(), key.key(), window.revision, window.aggregate));
  }

  private static final class Window {
    private Aggregate aggregate = new Aggregate();
    private long revision;
    private boolean unpublished;

    byte[] encode() {
      StateWriter out = new StateWriter().version(1).varint(revision).fixed8(unpublished ? 1 : 0);
      aggregate.encode(out);
      return out.toBytes();
    }

    static Window decode(byte[] bytes) {
      StateReader in = new StateReader(bytes).version(1);
      Window window = new Window();
      window.revision = in.varint();
      window.unpublished = in.fixed8() == 1;
      window.aggregate = Aggregate.decode(in);
      return window;
    }
  }
}
