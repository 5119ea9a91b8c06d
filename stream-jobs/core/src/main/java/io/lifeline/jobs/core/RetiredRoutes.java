package io.lifeline.jobs.core;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Function;

/**
 * What a job remembers of routes that have ended or are idle: in the state and not in memory, and taken from there if
 * a route is heard again. So an emitter's memory is free when it has ended, and nothing is forgotten before the
 * retention time has passed. Used by one thread.
 */
public final class RetiredRoutes {

  /** A route that has been silent for that long is retired even if it has not ended. */
  public static final long IDLE_MS = 3_600_000;

  static final String PREFIX = "retired/";

  /**
   * Maximum number of routes that one {@link #save} retires. Each may cost the host a request, and after an upgrade, or
   * when a cluster was switched off, almost all routes are due at once.
   */
  static final int MOST_PER_SAVE = 1000;

  private final Generations values;

  /** Routes to retire, those that have waited longest first. */
  private final Set<RouteKey> due = new LinkedHashSet<>();

  /** @param job distinguishes the values of several jobs over one state */
  public RetiredRoutes(KeyedState state, String job, long retentionMs) {
    this.values = new Generations(state, PREFIX + job + "/", "retired-generations/" + job, retentionMs);
  }

  /** Returns a route's value when it was last retired; null if it never was, or if that has expired. */
  public byte[] get(RouteKey route) {
    return values.get(route.toString());
  }

  /** Marks a route in memory that {@link #save} shall retire. */
  public void due(RouteKey route) {
    due.add(route);
  }

  /** Takes back {@link #due}. */
  public void keep(RouteKey route) {
    due.remove(route);
  }

  /**
   * Retires routes that are due, a limited number per call.
   *
   * @param remove removes a route from the job's memory and returns its value
   * @param nowMs see {@link RetentionClock}
   */
  public void save(Function<RouteKey, byte[]> remove, long nowMs) {
    Iterator<RouteKey> routes = due.iterator();
    for (int left = MOST_PER_SAVE; left > 0 && routes.hasNext(); left--) {
      RouteKey route = routes.next();
      routes.remove();
      values.put(route.toString(), remove.apply(route), nowMs);
    }
  }

  /** Drops what is older than the retention time. */
  public void expire(long nowMs) {
    values.expire(nowMs);
  }
}
