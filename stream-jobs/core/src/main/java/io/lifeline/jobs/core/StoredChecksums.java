package io.lifeline.jobs.core;

import java.util.ArrayList;
import java.util.List;

/**
 * Checksums of older sequences, in the state and not in memory: one value per route and 64 sequences. A route may live
 * for years, so they are kept in generations, each a quarter of the retention time long. A generation that is older
 * than the retention time is dropped, for all routes together. Used by one thread.
 */
final class StoredChecksums {

  private static final String GENERATIONS = "dedup-generations";
  private static final int PER_RETENTION = 4;

  /** Maximum number of values deleted at a time, so that the job's other work is not delayed. */
  private static final int DELETE_AT_ONCE = 10_000;

  private final KeyedState state;
  private final long retentionMs;
  private final long lengthMs;

  /** Start of each generation, the oldest first. */
  private final List<Long> generations = new ArrayList<>();

  StoredChecksums(KeyedState state, long retentionMs) {
    this.state = state;
    this.retentionMs = retentionMs;
    this.lengthMs = Math.max(1, retentionMs / PER_RETENTION);
    byte[] saved = state.get(GENERATIONS);
    if (saved != null) {
      StateReader in = new StateReader(saved).version(1);
      for (int left = in.count(1); left > 0; left--) {
        generations.add(in.varint());
      }
    }
  }

  /** Returns the checksums of a route's chunk; null if there are none or they have expired. */
  Checksums get(RouteKey route, long chunk) {
    for (int i = generations.size() - 1; i >= 0; i--) {
      byte[] bytes = state.get(key(generations.get(i), route, chunk));
      if (bytes != null) {
        return Checksums.of(bytes);
      }
    }
    return null;
  }

  /** @param nowMs see {@link RetentionClock} */
  void put(RouteKey route, Checksums checksums, long nowMs) {
    if (generations.isEmpty() || nowMs - newest() >= lengthMs) {
      generations.add(nowMs);
      saveGenerations();
    }
    state.put(key(newest(), route, checksums.chunk()), checksums.toBytes());
  }

  /** Drops generations that are older than the retention time, a limited number of values per call. */
  void expire(long nowMs) {
    while (!generations.isEmpty() && nowMs - generations.get(0) > retentionMs + lengthMs) {
      if (!state.deleteSome(prefix(generations.get(0)), DELETE_AT_ONCE)) {
        return;
      }
      generations.remove(0);
      saveGenerations();
    }
  }

  private long newest() {
    return generations.get(generations.size() - 1);
  }

  private void saveGenerations() {
    if (generations.isEmpty()) {
      state.delete(GENERATIONS);
      return;
    }
    StateWriter out = new StateWriter().version(1).varint(generations.size());
    generations.forEach(out::varint);
    state.put(GENERATIONS, out.toBytes());
  }

  private static String prefix(long generation) {
    return Deduplicator.CHECKSUMS + generation + "/";
  }

  private static String key(long generation, RouteKey route, long chunk) {
    return prefix(generation) + route + "/" + chunk;
  }
}
