package io.lifeline.jobs.core.summarise;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * Contribution of one group of emitters to the windows since its last share. Used where one message per batch and
 * window would be too many.
 *
 * @param life identifies the checkpoints that hold the numbers: without them, numbers and windows start anew
 * @param groups number of groups; shares of different numbers of groups are not merged
 * @param group index of the group
 * @param number of the share within its group, from 1, to detect repeats
 */
record Share(String life, int groups, int group, long number, List<Entry> entries, List<Progress> progress) {

  /** Contribution to one window of one summary. */
  record Entry(long windowStartNs, String key, Aggregate aggregate) {

    void encode(StateWriter out) {
      out.zigzag(windowStartNs).text(key);
      aggregate.encode(out);
    }

    static Entry decode(StateReader in) {
      return new Entry(in.zigzag(), in.text(), Aggregate.decode(in));
    }
  }

  byte[] toBytes() {
    StateWriter out = new StateWriter().version(2).text(life).varint(groups).varint(group).varint(number);
    out.varint(entries.size());
    entries.forEach(entry -> entry.encode(out));
    out.varint(progress.size());
    progress.forEach(emitter -> emitter.encode(out));
    return out.toBytes();
  }

  static Share fromBytes(byte[] bytes) {
    StateReader in = new StateReader(bytes).version(2);
    String life = in.text();
    int groups = (int) in.varint();
    int group = (int) in.varint();
    long number = in.varint();
    List<Entry> entries = new ArrayList<>();
    for (int left = in.count(6); left > 0; left--) {
      entries.add(Entry.decode(in));
    }
    List<Progress> progress = new ArrayList<>();
    for (int left = in.count(11); left > 0; left--) {
      progress.add(Progress.decode(in));
    }
    return new Share(life, groups, group, number, List.copyOf(entries), List.copyOf(progress));
  }
}
