package io.lifeline.jobs.core;

import java.util.Set;

/** Renames an event's own fields that collide with those of every event. */
public final class FieldNames {
  /** Members of the JSON of every event, which its own fields stand beside. */
  public static final Set<String> EVERY_EVENT =
      Set.of(
          "ts", "ts_ns", "type", "level", "host", "program", "pid", "thread", "incarnation", "route", "sequence",
          "event_index", "non_finite");

  private FieldNames() {}

  /** Appends {@code _} to a name that is taken, with or without its trailing underscores: names stay distinct. */
  public static String beside(Set<String> taken, String name) {
    int end = name.length();
    while (end > 0 && name.charAt(end - 1) == '_') {
      end--;
    }
    return taken.contains(name) || taken.contains(name.substring(0, end)) ? name + "_" : name;
  }
}
