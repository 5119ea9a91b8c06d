package io.lifeline.jobs.core;

import java.util.ArrayList;
import java.util.List;

/**
 * Values that are in the state and not in memory. They are kept in generations, each a quarter of the retention time
 * long; a generation that is older than the retention time is dropped, with all its values together. Used by one
 * thread.
 */
final class Generations {

  private static final int PER_RETENTION = 4;

  /** Maximum number of values deleted at a time, so that the job's other work is not delayed. */
  private static final int DELETE_AT_ONCE = 10_000;

  private final KeyedState state;
  private final String prefix;
  private final String listKey;
  private final long retentionMs;
  private final long lengthMs;

  /** Start of each generation, the oldest first. */
  private final List<Long> starts = new ArrayList<>();

  /**
   * @param prefix of the values' keys
   * @param listKey where the starts of the generations are kept
   */
  Generations(KeyedState state, String prefix, String listKey, long retentionMs) {
    this.state = state;
    this.prefix = prefix;
    this.listKey = listKey;
    this.retentionMs = retentionMs;
    this.lengthMs = Math.max(1, retentionMs / PER_RETENTION);
    byte[] saved = state.get(listKey);
    if (saved != null) {
      StateReader in = new StateReader(saved).version(1);
      for (int left = in.count(1); left > 0; left--) {
        starts.add(in.varint());
      }
    }
  }

  /** Returns the newest value of a name; null if there is none or it has expired. */
  byte[] get(String name) {
    List<String> newestFirst = new ArrayList<>();
    starts.forEach(start -> newestFirst.add(0, String.valueOf(start)));
    return newestFirst.isEmpty() ? null : state.firstOf(prefix, newestFirst, "/" + name);
  }

  /** @param nowMs see {@link RetentionClock} */
  void put(String name, byte[] value, long nowMs) {
    if (starts.isEmpty() || nowMs - newest() >= lengthMs) {
      starts.add(nowMs);
      saveStarts();
    }
    state.put(key(newest(), name), value);
  }

  /** Drops generations that are older than the retention time, a limited number of values per call. */
  void expire(long nowMs) {
    while (!starts.isEmpty() && nowMs - starts.get(0) > retentionMs + lengthMs) {
      if (!state.deleteSome(key(starts.get(0), ""), DELETE_AT_ONCE)) {
        return;
      }
      starts.remove(0);
      saveStarts();
    }
  }

  private long newest() {
    return starts.get(starts.size() - 1);
  }

  private void saveStarts() {
    if (starts.isEmpty()) {
      state.delete(listKey);
      return;
    }
    StateWriter out = new StateWriter().version(1).varint(starts.size());
    starts.forEach(out::varint);
    state.put(listKey, out.toBytes());
  }

  private String key(long start, String name) {
    return prefix + start + "/" + name;
  }
}
