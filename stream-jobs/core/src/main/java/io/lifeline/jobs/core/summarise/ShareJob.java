package io.lifeline.jobs.core.summarise;

import io.lifeline.codec.BatchReader;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The first stage of summarise for one of several groups of emitters, on a host without transactions. Contributions of
 * batches to windows are merged until {@link #punctuate}, and then sent as {@link Share}s to {@link ShareMerger}. A
 * share is part of the checkpoint that it was made for, so its number never has two contents.
 */
public final class ShareJob implements Job {

  private static final String KEY = "summarise/shares";

  /** Keeps shares far below a broker's maximum message size; an entry has some kilobytes. */
  private static final int ENTRIES_PER_SHARE = 16;

  private final PartialAggregator aggregator;
  private final WindowEnds ends;
  private final KeyedState state;
  private final String life;
  private final int groups;
  private final int group;
  private final int maxWindows;
  private final Metrics.Counter overflowValues;
  private final Map<Long, Map<String, Aggregate>> windows = new TreeMap<>();
  private final Map<RouteKey, Progress> emitters = new HashMap<>();
  private int open;
  private long sent;

  /**
   * @param life the same for all groups and their merger; another one after their checkpoints were removed
   * @param group from 0 to {@code groups - 1}
   */
  public ShareJob(
      SummariseSettings settings, String life, int groups, int group, KeyedState state, Metrics metrics) {
    this.aggregator = new PartialAggregator(settings, metrics);
    this.ends = new WindowEnds(settings);
    this.state = state;
    this.life = life;
    this.groups = groups;
    this.group = group;
    this.maxWindows = settings.maxWindows();
    this.overflowValues = WindowMerger.overflowValues(metrics);
    byte[] saved = state.get(KEY);
    if (saved != null) {
      StateReader in = new StateReader(saved).version(1);
      sent = in.varint();
      Share unsent = Share.fromBytes(in.blob());
      unsent.entries().forEach(entry -> add(entry.windowStartNs(), entry.key(), entry.aggregate()));
      unsent.progress().forEach(this::observe);
    }
  }

  @Override
  public String name() {
    return SummariseJob.NAME;
  }

  @Override
  public void accept(BatchReader batch, Position position, Output output) {
    PartialAggregator.Result result = aggregator.aggregate(batch, position);
    result.partials().forEach(partial -> add(partial.windowStartNs(), partial.key(), partial.aggregate()));
    observe(result.progress());
  }

  private void add(long windowStartNs, String key, Aggregate aggregate) {
    Aggregate known = windows.getOrDefault(windowStartNs, Map.of()).get(key);
    if (known == null) {
      if (open >= maxWindows) {
        overflowValues.add(aggregate.values());
        return;
      }
      known = new Aggregate();
      windows.computeIfAbsent(windowStartNs, start -> new HashMap<>()).put(key, known);
      open++;
    }
    known.merge(aggregate);
  }

  private void observe(Progress progress) {
    ends.observe(progress);
    emitters.merge(progress.emitter(), progress, Progress::later);
  }

  /** Returns whether the merging task may wait for a share. */
  @Override
  public boolean isDue(long nowMs) {
    return ends.isPassed();
  }

  /** Sends the merged contributions; the last share also carries the emitters' progress, after all values. */
  @Override
  public void punctuate(long nowMs, Output output) {
    ends.startOver(nowMs);
    if (emitters.isEmpty()) {
      return;
    }
    List<Share.Entry> entries = entries();
    int from = 0;
    for (; entries.size() - from > ENTRIES_PER_SHARE; from += ENTRIES_PER_SHARE) {
      send(entries.subList(from, from + ENTRIES_PER_SHARE), List.of(), output);
    }
    send(entries.subList(from, entries.size()), List.copyOf(emitters.values()), output);
    windows.clear();
    open = 0;
    emitters.clear();
  }

  private void send(List<Share.Entry> entries, List<Progress> progress, Output output) {
    Share share = new Share(life, groups, group, ++sent, entries, progress);
    String key = group + "-of-" + groups;
    output.send(Destination.PARTIALS, key, "partials:" + key + ":" + share.number(), share.toBytes());
  }

  private List<Share.Entry> entries() {
    List<Share.Entry> entries = new ArrayList<>();
    windows.forEach(
        (start, byKey) -> byKey.forEach((key, aggregate) -> entries.add(new Share.Entry(start, key, aggregate))));
    return entries;
  }

  @Override
  public void save() {
    Share unsent = new Share(life, groups, group, sent + 1, entries(), List.copyOf(emitters.values()));
    state.put(KEY, new StateWriter().version(1).varint(sent).blob(unsent.toBytes()).toBytes());
  }
}
