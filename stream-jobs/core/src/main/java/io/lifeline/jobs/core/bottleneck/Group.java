package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * One group: its components and its published verdict. The published verdict changes only after a different verdict has
 * been unchanged for the hold time; a verdict of too few samples changes nothing.
 */
final class Group {

  private static final String NONE = "";

  private static final int LAYOUT = 3;

  /** How long samples wait for those of other emitters, at least, in broker time. */
  private static final long PATIENCE_MS = 3_000;

  /** Maximum number of samples that wait, and of components of emitters that they wait for. */
  private static final int MAX_WAITING = 256;

  /** A sample that is not judged yet. */
  private record Waiting(Sample sample, long sinceMs) {}

  /** An emitter's share of a component. */
  private record Source(String emitter, String component) {}

  /** Samples further ahead of broker time are ignored: the emitter's clock is wrong, and all others would seem old. */
  private static final long MAX_AHEAD_MS = 60_000;

  private final String name;
  private final BottleneckSettings settings;
  private final Watch watch;
  private long lastMs;

  /** When the first sample came; 0 before. */
  private long firstMs;

  /** In the order in which they are judged. */
  private final List<Waiting> waiting = new ArrayList<>();

  /** When the next sample of each source can end at the earliest, of sources that have not missed one. */
  private final Map<Source, Long> dueNs = new LinkedHashMap<>();

  /** The bottleneck in the published verdict, followed by its start; empty for none. */
  private String told = NONE;

  private long toldSinceNs;

  /** The bottleneck in the latest verdict, followed by its start; published after the hold time. */
  private String found = NONE;

  private long foundSinceNs;

  /** The last change before the latest verdict. */
  private long changedNs;

  Group(String name, BottleneckSettings settings) {
    this(name, settings, new Watch(settings.idleNs()));
  }

  private Group(String name, BottleneckSettings settings, Watch watch) {
    this.name = name;
    this.settings = settings;
    this.watch = watch;
  }

  String name() {
    return name;
  }

  long lastMs() {
    return lastMs;
  }

  /** Returns false if the sample is unusable: too late, from a clock that is ahead, or without a valid speed. */
  boolean add(Sample sample, long brokerTimeMs, Consumer<Alert> alerts) {
    lastMs = Math.max(lastMs, brokerTimeMs);
    boolean isAhead = sample.endNs() / 1_000_000 > brokerTimeMs + MAX_AHEAD_MS;
    if (isAhead || !sample.hasSpeed() || sample.endNs() <= watch.changedNs()) {
      return false;
    }
    firstMs = firstMs == 0 ? lastMs : firstMs;
    int at = waiting.size();
    while (at > 0 && Sample.ORDER.compare(waiting.get(at - 1).sample, sample) > 0) {
      at--;
    }
    waiting.add(at, new Waiting(sample, lastMs));
    expectNext(sample);
    judge(lastMs, alerts);
    return true;
  }

  /** An emitter's samples come in the order of their ends: what it did not send before this one, it never will. */
  private void expectNext(Sample sample) {
    dueNs.entrySet().removeIf(
        next -> next.getKey().emitter.equals(sample.emitter()) && next.getValue() < sample.endNs());
    Source source = new Source(sample.emitter(), sample.component());
    if (dueNs.size() < MAX_WAITING || dueNs.containsKey(source)) {
      dueNs.put(source, sample.endNs() + sample.intervalNs());
    }
  }

  /**
   * Judges what waits for no other sample, or has waited for long enough. The samples of an interval are judged
   * together, and intervals in the order of their ends: emitters' samples arrive in any order, on which the answer must
   * not depend. Otherwise a report on the archive, where all of them are there, would have another one.
   *
   * @return whether anything was judged
   */
  boolean judge(long nowMs, Consumer<Alert> alerts) {
    int before = waiting.size();
    while (!waiting.isEmpty()) {
      long endNs = waiting.get(0).sample.endNs();
      long patienceMs = Math.max(PATIENCE_MS, Operations.PATIENCE * settings.intervalNs() / 1_000_000);
      boolean isOverdue = nowMs - waiting.get(0).sinceMs >= patienceMs;
      boolean isComplete = nowMs - firstMs >= patienceMs && dueNs.values().stream().noneMatch(due -> due <= endNs);
      if (!isOverdue && !isComplete && waiting.size() <= MAX_WAITING) {
        break;
      }
      dueNs.values().removeIf(due -> due <= endNs);
      judgeFirst(alerts);
    }
    return waiting.size() < before;
  }

  /** Judges the samples of the first interval that waits. */
  private void judgeFirst(Consumer<Alert> alerts) {
    long endNs = waiting.get(0).sample.endNs();
    List<Sample> samples =
        waiting.stream().map(Waiting::sample).takeWhile(sample -> sample.endNs() == endNs).toList();
    waiting.subList(0, samples.size()).clear();
    Verdict verdict = watch.add(samples);
    if (verdict != null && verdict.reason() != Verdict.Reason.TOO_LITTLE) {
      consider(verdict, settings.holdNs(), alerts);
    }
  }

  /** Judges all that waits. */
  void judgeAll(Consumer<Alert> alerts) {
    while (!waiting.isEmpty()) {
      judgeFirst(alerts);
    }
  }

  /** A verdict that comes of a change is as old as the change: the samples since then agree on it. */
  private void consider(Verdict verdict, long holdNs, Consumer<Alert> alerts) {
    String now = verdict.component() == null ? NONE : verdict.component();
    if (!now.equals(found)) {
      found = now;
      foundSinceNs = watch.changedNs() != changedNs ? watch.changedNs() : watch.knownNs();
    }
    changedNs = watch.changedNs();
    if (!found.equals(told) && watch.knownNs() - foundSinceNs >= holdNs) {
      endTold(verdict, alerts);
      told = found;
      toldSinceNs = foundSinceNs;
      if (verdict.component() != null) {
        alerts.accept(alert(true, verdict));
      }
    }
  }

  /** Clears the group's alert, since the group is silent. */
  void end(Consumer<Alert> alerts) {
    judgeAll(alerts);
    endTold(Verdict.none(Verdict.Reason.SILENT), alerts);
  }

  private void endTold(Verdict instead, Consumer<Alert> alerts) {
    if (!told.equals(NONE)) {
      alerts.accept(alert(false, instead));
      told = NONE;
    }
  }

  private Alert alert(boolean isOn, Verdict because) {
    return new Alert(name, told, isOn, because, toldSinceNs, watch.knownNs(), watch.changedNs(), watch.traits());
  }

  /** @param alerts all that were published, in their order */
  Answer answer(List<Alert> alerts) {
    List<Answer.Change> changes = new ArrayList<>();
    for (int i = 0; i < alerts.size(); i++) {
      Alert alert = alerts.get(i);
      Alert next = i + 1 < alerts.size() ? alerts.get(i + 1) : null;
      boolean isReplaced = next != null && next.isOn() && next.atNs() == alert.atNs();
      if (alert.isOn()) {
        changes.add(new Answer.Change(alert.component(), alert.sinceNs()));
      } else if (!isReplaced) {
        changes.add(new Answer.Change(null, alert.atNs()));
      }
    }
    boolean isOn = !told.equals(NONE);
    Verdict newest = watch.verdict();
    Verdict verdict = isOn && !told.equals(newest.component()) ? alerts.get(alerts.size() - 1).because() : newest;
    List<Answer.Part> parts = new ArrayList<>();
    watch.traits().forEach((component, traits) -> parts.add(
        new Answer.Part(component, traits.samples(), traits.use().mean(), traits.threads())));
    parts.sort(Comparator.comparingDouble(part -> -part.use()));
    return new Answer(isOn ? told : null, verdict.reason().label(), verdict.alike(), verdict.chance(),
        changes, parts);
  }

  byte[] encode() {
    StateWriter out = new StateWriter().version(LAYOUT).text(name).varint(lastMs);
    watch.encode(out);
    out.text(told).zigzag(toldSinceNs).text(found).zigzag(foundSinceNs).zigzag(changedNs);
    out.varint(firstMs).varint(waiting.size());
    waiting.forEach(next -> out.blob(next.sample.toBytes()).varint(next.sinceMs));
    out.varint(dueNs.size());
    dueNs.forEach((source, due) -> out.text(source.emitter).text(source.component).zigzag(due));
    return out.toBytes();
  }

  static Group decode(BottleneckSettings settings, byte[] bytes) {
    StateReader in = new StateReader(bytes).version(LAYOUT);
    String name = in.text();
    long lastMs = in.varint();
    Group group = new Group(name, settings, Watch.decode(settings.idleNs(), in));
    group.lastMs = lastMs;
    group.told = in.text();
    group.toldSinceNs = in.zigzag();
    group.found = in.text();
    group.foundSinceNs = in.zigzag();
    group.changedNs = in.zigzag();
    group.firstMs = in.varint();
    for (int left = in.count(2); left > 0; left--) {
      group.waiting.add(new Waiting(Sample.fromBytes(in.blob()), in.varint()));
    }
    for (int left = in.count(3); left > 0; left--) {
      group.dueNs.put(new Source(in.text(), in.text()), in.zigzag());
    }
    return group;
  }
}
