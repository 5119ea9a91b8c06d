package io.lifeline.jobs.archive;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Column names of a type's file and view. SQL names are case-insensitive and the common event columns come first, so a
 * field whose name is taken is renamed: {@code sequence} becomes {@code field_sequence}.
 */
public final class ColumnNames {
  /** Columns of every event: its time, and after the fields its origin. */
  public static final List<String> RESERVED =
      List.of("ts", "host", "program", "pid", "thread", "incarnation", "route", "sequence", "event_index", "level");

  private ColumnNames() {}

  /** Returns names for the fields and then the constants of a type, in order. */
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
