package io.lifeline.jobs.archive;

import io.lifeline.codec.FieldType;

/**
 * An event as read from an archive, or from a batch that has just arrived.
 *
 * @param timeNs nanoseconds since 1970
 * @param thread unsigned
 * @param sequence of its batch, unsigned
 * @param index of the event in its batch
 * @param values of the type's members: Long (u64: its bits), Float, Double, Boolean, String, and bytes as a String of
 *     hexadecimal digits; null if the archive has no value
 */
public record ArchivedEvent(long timeNs, ArchivedType type, String host, String program, long pid, long thread,
    String incarnation, int route, long sequence, long index, Object[] values) {

  /** Returns the id that ties this event to a lifeline, as text; null if it has none. */
  public String id() {
    int member = type.idMember();
    Object value = member < 0 ? null : values[member];
    if (value == null) {
      return null;
    }
    return type.members().get(member).type() == FieldType.U64
        ? Long.toUnsignedString((Long) value) : value.toString();
  }
}
