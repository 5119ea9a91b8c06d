package io.lifeline.jobs.archive;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The columns of a type's file and view. SQL compares names without case and the events' own columns come first, so a
 * field whose name is taken gets another: {@code sequence} becomes {@code field_sequence}.
 */
public final class ColumnNames {
  /** What every event has: when, then (behind the fields) where from. */
  public static final List<String> RESERVED =
      List.of("ts", "host", "program", "pid", "thread", "incarnation", "route", "sequence", "event_index", "level");

  private ColumnNames() {}

  /** Names for the fields and then the constants of a type, in order. */
  public static List<String> of(TypeEntry type) {
    Set<String> taken = new HashSet<>(RESERVED);
    List<String> names = new ArrayList<>();
    type.fields().forEach(field -> names.add(free(field.name(), "field_", taken)));
    type.constants().forEach(constant -> names.add(free(constant.name(), "constant_", taken)));
    return names;
  }

  private static String free(String wanted, String prefix, Set<String> taken) {
    String name = wanted;
    while (!taken.add(name.toLowerCase(Locale.ROOT))) {
      name = prefix + name;
    }
    return name;
  }
}
