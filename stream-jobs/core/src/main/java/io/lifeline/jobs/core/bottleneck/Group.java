package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/**
 * One group: its components and its published verdict. The published verdict changes only after a different verdict has
 * been unchanged for the hold time; a verdict of too few samples changes nothing.
 */
final class Group {

  private static final String NONE = "";

  private static final int LAYOUT = 2;

  /** Samples further ahead of broker time are ignored: the emitter's clock is wrong, and all others would seem old. */
  private static final long MAX_AHEAD_MS = 60_000;

  private final String name;
  private final Watch watch;
  private long lastMs;

  /** The bottleneck in the published verdict, followed by its start; empty for none. */
  private String told = NONE;

  private long toldSinceNs;

  /** The bottleneck in the latest verdict, followed by its start; published after the hold time. */
  private String found = NONE;

  private long foundSinceNs;

  /** The last change before the latest verdict. */
  private long changedNs;

  Group(String name, BottleneckSettings settings) {
    this(name, new Watch(settings.idleNs()));
  }

  private Group(String name, Watch watch) {
    this.name = name;
    this.watch = watch;
  }

  String name() {
    return name;
  }

  long lastMs() {
    return lastMs;
  }

  /** Returns false if the sample is unusable: too late, from a clock that is ahead, or without a valid speed. */
  boolean add(Sample sample, long brokerTimeMs, long holdNs, Consumer<Alert> alerts) {
    lastMs = Math.max(lastMs, brokerTimeMs);
    boolean isAhead = sample.endNs() / 1_000_000 > brokerTimeMs + MAX_AHEAD_MS;
    Verdict verdict = isAhead || !sample.hasSpeed() ? null : watch.add(sample);
    if (verdict == null) {
      return false;
    }
    if (verdict.reason() != Verdict.Reason.TOO_LITTLE) {
      consider(verdict, holdNs, alerts);
    }
    return true;
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
    return out.text(told).zigzag(toldSinceNs).text(found).zigzag(foundSinceNs).zigzag(changedNs).toBytes();
  }

  static Group decode(BottleneckSettings settings, byte[] bytes) {
    StateReader in = new StateReader(bytes);
    boolean isOld = in.versions(1, LAYOUT) == 1;
    String name = in.text();
    long lastMs = in.varint();
    Group group =
        new Group(name, isOld ? Watch.decodeOld(settings.idleNs(), in) : Watch.decode(settings.idleNs(), in));
    group.lastMs = lastMs;
    group.told = in.text();
    group.toldSinceNs = in.zigzag();
    group.found = in.text();
    group.foundSinceNs = in.zigzag();
    group.changedNs = isOld ? group.watch.changedNs() : in.zigzag();
    return group;
  }
}
