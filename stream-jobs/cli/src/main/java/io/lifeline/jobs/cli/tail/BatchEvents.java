package io.lifeline.jobs.cli.tail;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Constant;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.ArchivedType;
import io.lifeline.jobs.archive.TypeEntry;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

/** Reads the selected events of a batch as the formats of events take them. */
final class BatchEvents {

  /** A type, and the values of its constants. */
  private record Known(ArchivedType type, Object[] constants) {}

  /** Weak keys, so that unused types are released: an emitter may send new types without limit. */
  private final Map<EventType, Known> types = new WeakHashMap<>();
  private final List<ArchivedEvent> events = new ArrayList<>();

  /** Returns the selected events in order of time: a batch has them thread by thread. Valid until the next call. */
  List<ArchivedEvent> of(BatchReader batch, Selection selection) {
    events.clear();
    if (!selection.begin(batch)) {
      return events;
    }
    String incarnation = batch.incarnation().toString();
    String host = batch.host();
    String program = batch.program();
    batch.rewind();
    while (batch.next()) {
      if (selection.has(batch)) {
        Known known = types.computeIfAbsent(batch.type(), BatchEvents::known);
        events.add(new ArchivedEvent(batch.timeNs(), known.type, host, program, batch.pid(), batch.thread(),
            incarnation, batch.route(), batch.sequence(), batch.eventIndex(), values(batch, known.constants)));
      }
    }
    events.sort(Comparator.comparingLong(ArchivedEvent::timeNs));
    return events;
  }

  private static Object[] values(BatchReader batch, Object[] constants) {
    List<Field> fields = batch.type().fields();
    Object[] values = new Object[constants.length + fields.size()];
    System.arraycopy(constants, 0, values, 0, constants.length);
    for (int i = 0; i < fields.size(); i++) {
      values[constants.length + i] = switch (fields.get(i).type()) {
        case F32 -> (float) batch.getDouble(i);
        case F64 -> batch.getDouble(i);
        case BOOL -> batch.getBoolean(i);
        case STRING -> batch.getString(i);
        case BYTES -> HexFormat.of().formatHex(batch.getBytes(i));
        default -> batch.getLong(i);
      };
    }
    return values;
  }

  private static Known known(EventType type) {
    return new Known(ArchivedType.of(TypeEntry.of(type)),
        type.constants().stream().map(BatchEvents::value).toArray());
  }

  private static Object value(Constant constant) {
    Object value = constant.value();
    return value instanceof Integer number ? Long.valueOf(number)
        : value instanceof byte[] bytes ? HexFormat.of().formatHex(bytes) : value;
  }
}
