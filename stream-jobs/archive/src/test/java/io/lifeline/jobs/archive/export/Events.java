package io.lifeline.jobs.archive.export;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Constant;
import io.lifeline.codec.Field;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.ArchivedType;
import io.lifeline.jobs.archive.EventCursor;
import io.lifeline.jobs.archive.EventReader;
import io.lifeline.jobs.archive.EventSelection;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.TypeEntry;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;

/** Events as text that has everything of them, to compare what was read in different ways. */
public final class Events {

  /** An event as text, and its place in the order of an export. */
  private record Line(long timeNs, String incarnation, int route, long sequence, long index, String text) {}

  private static final Comparator<Line> ORDER = Comparator.comparingLong(Line::timeNs)
      .thenComparing(Line::incarnation).thenComparingInt(Line::route)
      .thenComparing(Line::sequence, Long::compareUnsigned).thenComparingLong(Line::index);

  private Events() {}

  /** Reads all events of an archive. */
  public static List<String> of(EventReader reader, EventSelection selection) throws Exception {
    List<String> lines = new ArrayList<>();
    try (EventCursor events = reader.read(selection)) {
      for (ArchivedEvent event = events.next(); event != null; event = events.next()) {
        StringBuilder members = new StringBuilder();
        for (int i = 0; i < event.values().length; i++) {
          ArchivedType.Member member = event.type().members().get(i);
          members.append(member(member.name(), member.type(), member.unit(), event.values()[i]));
        }
        lines.add(line(event.timeNs(), event.type().name(), event.type().level(), event.host(), event.program(),
            event.pid(), event.thread(), event.incarnation(), event.route(), event.sequence(), event.index(), members));
      }
    }
    return lines;
  }

  /** Decodes batches, without an archive, into what {@link #of} must return for them. */
  public static List<String> of(List<byte[]> batches) throws Exception {
    List<Line> lines = new ArrayList<>();
    for (byte[] bytes : batches) {
      BatchReader batch = new BatchReader().read(bytes, 0, bytes.length);
      while (batch.next()) {
        TypeEntry type = TypeEntry.of(batch.type());
        StringBuilder members = new StringBuilder();
        for (int i = 0; i < type.constants().size(); i++) {
          Constant constant = batch.type().constants().get(i);
          TypeEntry.ConstantEntry entry = type.constants().get(i);
          Object value = constant.value() instanceof byte[] raw ? HexFormat.of().formatHex(raw)
              : constant.value() instanceof String text ? Sql.clean(text)
              : constant.value() instanceof Number number && !constant.type().isFloating() ? number.longValue()
              : constant.value();
          members.append(member(entry.name(), constant.type(), entry.unit(), value));
        }
        for (int i = 0; i < type.fields().size(); i++) {
          TypeEntry.FieldEntry field = type.fields().get(i);
          members.append(member(field.name(), field.fieldType(), field.unit(),
              value(batch, i, batch.type().fields().get(i))));
        }
        String incarnation = batch.incarnation().toString();
        lines.add(new Line(batch.timeNs(), incarnation, batch.route(), batch.sequence(), batch.eventIndex(),
            line(batch.timeNs(), type.name(), type.level(), Sql.clean(batch.host()), Sql.clean(batch.program()),
                batch.pid(), batch.thread(), incarnation, batch.route(), batch.sequence(), batch.eventIndex(),
                members)));
      }
    }
    return lines.stream().sorted(ORDER).map(Line::text).toList();
  }

  private static Object value(BatchReader batch, int index, Field field) {
    return switch (field.type()) {
      case STRING -> batch.getString(index);
      case BYTES -> HexFormat.of().formatHex(batch.getBytes(index));
      case BOOL -> batch.getBoolean(index);
      case F32 -> (float) batch.getDouble(index);
      case F64 -> batch.getDouble(index);
      default -> batch.getLong(index);
    };
  }

  private static String member(String name, FieldType type, String unit, Object value) {
    String text = type == FieldType.U64 && value != null ? Long.toUnsignedString((Long) value) : String.valueOf(value);
    return " " + name + " [" + type.label() + " " + unit + "]=" + text + ";";
  }

  private static String line(long timeNs, String type, String level, String host, String program, long pid, long thread,
      String incarnation, int route, long sequence, long index, CharSequence members) {
    return String.join("|", Long.toString(timeNs), type, level, host, program, Long.toString(pid),
        Long.toUnsignedString(thread), incarnation, Integer.toString(route), Long.toUnsignedString(sequence),
        Long.toString(index), members);
  }
}
