package io.lifeline.jobs.core;

/**
 * What a job remembers of routes that have ended or are idle: in the state and not in memory, and taken from there if
 * a route is heard again. So an emitter's memory is free when it has ended, and nothing is forgotten before the
 * retention time has passed. Used by one thread.
 */
public final class RetiredRoutes {

  /** A route that has been silent for that long is retired even if it has not ended. */
  public static final long IDLE_MS = 3_600_000;

  static final String PREFIX = "retired/";

  private final Generations values;

  /** @param job distinguishes the values of several jobs over one state */
  public RetiredRoutes(KeyedState state, String job, long retentionMs) {
    this.values = new Generations(state, PREFIX + job + "/", "retired-generations/" + job, retentionMs);
  }

  /** Returns what was put last; null if there is nothing or it has expired. */
  public byte[] get(RouteKey route) {
    byte[] value = values.get(route.toString());
    if (value == null) {
      return null;
    }
    StateReader in = new StateReader(value).version(1);
    in.varint();
    return in.blob();
  }

  /**
   * @param changes grows with each change of the route
   * @param nowMs see {@link RetentionClock}
   */
  public void put(RouteKey route, long changes, byte[] value, long nowMs) {
    values.put(route.toString(), new StateWriter().version(1).varint(changes).blob(value).toBytes(), nowMs);
  }

  /** Drops what is older than the retention time. */
  public void expire(long nowMs) {
    values.expire(nowMs);
  }

  /** Returns the value with more changes. */
  static byte[] newer(byte[] first, byte[] second) {
    return changes(first) >= changes(second) ? first : second;
  }

  private static long changes(byte[] value) {
    return new StateReader(value).version(1).varint();
  }
}
