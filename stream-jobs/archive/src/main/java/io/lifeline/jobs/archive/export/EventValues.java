package io.lifeline.jobs.archive.export;

import io.lifeline.codec.FieldType;
import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.ArchivedType;
import java.util.List;

/** Values of an event by the names of its fields; another program's type of that name may have none, or another one. */
final class EventValues {
  private EventValues() {}

  private static int index(ArchivedEvent event, String name) {
    List<ArchivedType.Member> members = event.type().members();
    for (int i = 0; i < members.size(); i++) {
      if (members.get(i).name().equals(name)) {
        return i;
      }
    }
    return -1;
  }

  private static Object value(ArchivedEvent event, String name) {
    int index = index(event, name);
    return index < 0 ? null : event.values()[index];
  }

  /** Returns a text; empty if there is none. */
  static String text(ArchivedEvent event, String name) {
    return value(event, name) instanceof String text ? text : "";
  }

  /** Returns a number; 0 if there is none, or it is of another type. */
  static long integer(ArchivedEvent event, String name) {
    return value(event, name) instanceof Long number ? Math.max(0, number) : 0;
  }

  /** Returns a number as text, since it may exceed 63 bits. */
  static String unsigned(ArchivedEvent event, String name) {
    return value(event, name) instanceof Long number ? Long.toUnsignedString(number) : "0";
  }

  static double real(ArchivedEvent event, String name) {
    int index = index(event, name);
    Object value = index < 0 ? null : event.values()[index];
    if (value instanceof Long number && event.type().members().get(index).type() == FieldType.U64) {
      return number >= 0 ? number : number + 0x1p64;
    }
    return value instanceof Number number ? number.doubleValue() : 0;
  }

  static boolean truth(ArchivedEvent event, String name) {
    return value(event, name) instanceof Boolean truth && truth;
  }
}
