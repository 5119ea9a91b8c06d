package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.ArchivedType;
import io.lifeline.jobs.core.Terminal;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The event types of a Paraver trace and their names. An operation has the values 1 at its start and 0 at its end;
 * other events have the value 1; each number of an event has a type of its own.
 */
final class ParaverTypes {
  /** Numbers below belong to the tracers and models that Paraver knows. */
  private static final int FIRST = 1_000_001;

  /** Paraver's values are integers: fractions are written as millionths. */
  private static final double FRACTION = 1e6;

  private enum Kind { OPERATION, MOMENT, NUMBER }

  private record Named(int number, Kind kind) {}

  private final Map<String, Named> types = new LinkedHashMap<>();
  private final Map<ArchivedType, int[]> members = new IdentityHashMap<>();
  private final Counts counts;

  ParaverTypes(Counts counts) {
    this.counts = counts;
  }

  /** Appends {@code :type:value} for an event and each of its numbers. */
  void append(StringBuilder record, ArchivedEvent event, boolean isHalf) {
    ArchivedType type = event.type();
    int number = isHalf ? number(type.operation(), Kind.OPERATION) : number(type.name(), Kind.MOMENT);
    record.append(':').append(number).append(isHalf && !type.isStart() ? ":0" : ":1");
    int[] numbers = members.computeIfAbsent(type, this::numbers);
    for (int i = 0; i < numbers.length; i++) {
      if (numbers[i] > 0) {
        long value = value(event.values()[i]);
        if (value >= 0) {
          record.append(':').append(numbers[i]).append(':').append(value);
        } else {
          counts.add("values_left_out", 1);
        }
      }
    }
  }

  private int[] numbers(ArchivedType type) {
    String name = type.operation() == null ? type.name() : type.operation();
    return type.members().stream().mapToInt(member -> member.type().isVariable() ? 0
        : number(name + " " + member.name() + (member.type().isFloating() ? " (millionths)" : unit(member)),
            Kind.NUMBER)).toArray();
  }

  private static String unit(ArchivedType.Member member) {
    return member.unit().isEmpty() ? "" : " (" + member.unit() + ")";
  }

  private int number(String name, Kind kind) {
    return types.computeIfAbsent(kind + name, key -> new Named(FIRST + types.size(), kind)).number;
  }

  /** Returns a value that Paraver has; -1 if there is none. */
  private static long value(Object value) {
    if (value instanceof Boolean truth) {
      return truth ? 1 : 0;
    }
    if (value instanceof Long number) {
      return Math.max(number, -1);
    }
    double millionths = value == null ? -1 : Math.rint(((Number) value).doubleValue() * FRACTION);
    return millionths >= 0 && millionths < Long.MAX_VALUE ? (long) millionths : -1;
  }

  /** Returns the file with the names of states, types and values. */
  String names() {
    StringBuilder text = new StringBuilder("""
        DEFAULT_OPTIONS

        LEVEL               THREAD
        UNITS               NANOSEC
        LOOK_BACK           100
        SPEED               1
        FLAG_ICONS          ENABLED
        NUM_OF_STATE_COLORS 1000
        YMAX_SCALE          37


        DEFAULT_SEMANTIC

        THREAD_FUNC         State As Is


        STATES
        """);
    for (ParaverState state : ParaverState.values()) {
      text.append(state.number).append("    ").append(state.label).append('\n');
    }
    text.append("\n\nSTATES_COLOR\n");
    for (ParaverState state : ParaverState.values()) {
      text.append(state.number).append("    ").append(state.colour).append('\n');
    }
    types.forEach((key, type) -> {
      String name = Terminal.printable(key.substring(type.kind.name().length()));
      text.append("\n\nEVENT_TYPE\n0    ").append(type.number).append("    ").append(name).append('\n');
      switch (type.kind) {
        case OPERATION -> text.append("VALUES\n0      End\n1      Start\n");
        case MOMENT -> text.append("VALUES\n1      Event\n");
        case NUMBER -> { } // any value
      }
    });
    return text.toString();
  }
}
