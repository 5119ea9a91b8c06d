package io.lifeline.console.events;

import io.lifeline.jobs.core.Glob;
import io.lifeline.jobs.core.filter.Condition;

/** Which events a subscriber wants. Immutable. */
public final class EventFilter {
  final Glob types;
  final Glob programs;
  final Glob hosts;
  /** Null for none. */
  final Condition condition;

  private EventFilter(Glob types, Glob programs, Glob hosts, Condition condition) {
    this.types = types;
    this.programs = programs;
    this.hosts = hosts;
    this.condition = condition;
  }

  /**
   * Each argument may be null, which selects all.
   *
   * @param types pattern of names, in which {@code *} matches any text
   * @param where condition in CEL, as in the job filter
   * @throws IllegalArgumentException if the condition is not valid, with the reason
   */
  public static EventFilter of(String types, String programs, String hosts, String where) {
    return new EventFilter(glob(types), glob(programs), glob(hosts), where == null ? null : Condition.parse(where));
  }

  private static Glob glob(String pattern) {
    return Glob.of(pattern == null ? "*" : pattern);
  }
}
