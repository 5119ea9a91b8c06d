package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.function.Consumer;

/**
 * One group: what is known of its components, and what has been told. What is told changes only when the answer has
 * been another one for a while; an answer that there is too little to go by changes nothing.
 */
final class Group {

  private static final String NONE = "";

  /** What an emitter says of a time so far ahead of the broker's is about its clock, and would age all others. */
  private static final long MAX_AHEAD_MS = 60_000;

  private final String name;
  private final Watch watch;
  private long lastMs;

  /** The component that was said to be the bottleneck, and since when it is; empty for none. */
  private String told = NONE;

  private long toldSinceNs;

  /** The component that is found now, and since when; it is told when it has been that for a while. */
  private String found = NONE;

  private long foundSinceNs;

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

  /** False if the sample is of no use: it came too late, its emitter's clock is ahead, or its speed is no number. */
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

  private void consider(Verdict verdict, long holdNs, Consumer<Alert> alerts) {
    String now = verdict.component() == null ? NONE : verdict.component();
    if (!now.equals(found)) {
      found = now;
      foundSinceNs = watch.knownNs();
    }
    if (!found.equals(told) && watch.knownNs() - foundSinceNs >= holdNs) {
      endTold(verdict, alerts);
      told = found;
      toldSinceNs = foundSinceNs;
      if (verdict.component() != null) {
        alerts.accept(alert(true, verdict));
      }
    }
  }

  /** The group is silent: nothing is known of it any more. */
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

  byte[] encode() {
    StateWriter out = new StateWriter().version(1).text(name).varint(lastMs);
    watch.encode(out);
    return out.text(told).zigzag(toldSinceNs).text(found).zigzag(foundSinceNs).toBytes();
  }

  static Group decode(BottleneckSettings settings, byte[] bytes) {
    StateReader in = new StateReader(bytes).version(1);
    String name = in.text();
    long lastMs = in.varint();
    Group group = new Group(name, Watch.decode(settings.idleNs(), in));
    group.lastMs = lastMs;
    group.told = in.text();
    group.toldSinceNs = in.zigzag();
    group.found = in.text();
    group.foundSinceNs = in.zigzag();
    return group;
  }
}
