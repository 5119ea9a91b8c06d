package io.lifeline.jobs.core;

/**
 * Checksums of older sequences, in the state and not in memory: one value per route and 64 sequences. A route may live
 * for years, so they are dropped by {@link Generations}. Used by one thread.
 */
final class StoredChecksums {

  private final Generations values;

  StoredChecksums(KeyedState state, long retentionMs) {
    this.values = new Generations(state, Deduplicator.CHECKSUMS, "dedup-generations", retentionMs);
  }

  /** Returns the checksums of a route's chunk; null if there are none or they have expired. */
  Checksums get(RouteKey route, long chunk) {
    byte[] bytes = values.get(name(route, chunk));
    return bytes == null ? null : Checksums.of(bytes);
  }

  /** @param nowMs see {@link RetentionClock} */
  void put(RouteKey route, Checksums checksums, long nowMs) {
    values.put(name(route, checksums.chunk()), checksums.toBytes(), nowMs);
  }

  void expire(long nowMs) {
    values.expire(nowMs);
  }

  private static String name(RouteKey route, long chunk) {
    return route + "/" + chunk;
  }
}
