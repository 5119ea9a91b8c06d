package io.lifeline.jobs.core;

import java.util.Set;

/** What an event's own fields are called beside those that every event has. */
public final class FieldNames {

  private FieldNames() {}

  /** The name with another {@code _} if it is taken, or so without those at its end: no two names become one. */
  public static String beside(Set<String> taken, String name) {
    int end = name.length();
    while (end > 0 && name.charAt(end - 1) == '_') {
      end--;
    }
    return taken.contains(name) || taken.contains(name.substring(0, end)) ? name + "_" : name;
  }
}
