package io.lifeline.jobs.archive.export;

import com.google.protobuf.CodedOutputStream;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.archive.ArchivedEvent;
import io.lifeline.jobs.archive.ArchivedType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Perfetto's trace: the message {@code perfetto.protos.Trace}. The numbers here are those of its published schema,
 * {@code protos/perfetto/trace}. Times are relative to the first event; a clock snapshot says what time that was.
 */
final class PerfettoSink implements TimelineSink {
  private static final int PACKET = 1;

  private static final int PACKET_CLOCK_SNAPSHOT = 6;
  private static final int PACKET_TIMESTAMP = 8;
  private static final int PACKET_SEQUENCE_ID = 10;
  private static final int PACKET_TRACK_EVENT = 11;
  private static final int PACKET_INTERNED_DATA = 12;
  private static final int PACKET_SEQUENCE_FLAGS = 13;
  private static final int PACKET_TRACK_DESCRIPTOR = 60;
  private static final int STATE_CLEARED = 1;
  private static final int NEEDS_STATE = 2;
  private static final int SEQUENCE = 1;

  private static final int SNAPSHOT_CLOCKS = 1;
  private static final int SNAPSHOT_PRIMARY = 2;
  private static final int CLOCK_ID = 1;
  private static final int CLOCK_TIMESTAMP = 2;
  private static final int REALTIME = 1;
  private static final int BOOTTIME = 6;

  private static final int TRACK_UUID = 1;
  private static final int TRACK_NAME = 2;
  private static final int TRACK_PROCESS = 3;
  private static final int TRACK_THREAD = 4;
  private static final int TRACK_PARENT = 5;
  private static final int TRACK_COUNTER = 8;
  private static final int PROCESS_PID = 1;
  private static final int PROCESS_NAME = 6;
  private static final int THREAD_PID = 1;
  private static final int THREAD_TID = 2;
  private static final int THREAD_NAME = 5;
  private static final int COUNTER_UNIT = 6;

  private static final int EVENT_CATEGORY_IIDS = 3;
  private static final int EVENT_ANNOTATIONS = 4;
  private static final int EVENT_TYPE = 9;
  private static final int EVENT_NAME_IID = 10;
  private static final int EVENT_TRACK = 11;
  private static final int EVENT_NAME = 23;
  private static final int EVENT_COUNTER_VALUE = 30;
  private static final int EVENT_DOUBLE_COUNTER_VALUE = 44;
  private static final int EVENT_FLOWS = 47;
  private static final int BEGIN = 1;
  private static final int END = 2;
  private static final int INSTANT = 3;
  private static final int COUNTER = 4;

  private static final int ANNOTATION_NAME_IID = 1;
  private static final int ANNOTATION_BOOL = 2;
  private static final int ANNOTATION_UINT = 3;
  private static final int ANNOTATION_INT = 4;
  private static final int ANNOTATION_DOUBLE = 5;
  private static final int ANNOTATION_STRING = 6;
  private static final int ANNOTATION_NAME = 10;

  private static final int INTERNED_CATEGORIES = 1;
  private static final int INTERNED_EVENT_NAMES = 2;
  private static final int INTERNED_ANNOTATION_NAMES = 3;
  private static final int INTERNED_IID = 1;
  private static final int INTERNED_NAME = 2;

  /** Names beyond are written in full each time: a reader keeps the others in memory, as this does. */
  private static final int MAX_NAMES = 1 << 16;

  private interface Fields {
    void write(CodedOutputStream out) throws IOException;
  }

  /** Names that the trace has once; the packet that needs a new one brings it. */
  private static final class Names {
    private final int field;
    private final Map<String, Integer> numbers = new HashMap<>();

    Names(int field) {
      this.field = field;
    }
  }

  private final CodedOutputStream out;
  private final Names categories = new Names(INTERNED_CATEGORIES);
  private final Names eventNames = new Names(INTERNED_EVENT_NAMES);
  private final Names annotationNames = new Names(INTERNED_ANNOTATION_NAMES);
  private final ByteArrayOutputStream newNames = new ByteArrayOutputStream();
  private final CodedOutputStream newNamesOut = CodedOutputStream.newInstance(newNames);
  private final TraceClock clock;
  private boolean begun;

  PerfettoSink(OutputStream out, TraceClock clock) {
    this.out = CodedOutputStream.newInstance(out);
    this.clock = clock;
  }

  private static byte[] message(Fields fields) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(64);
    CodedOutputStream message = CodedOutputStream.newInstance(bytes, 64);
    fields.write(message);
    message.flush();
    return bytes.toByteArray();
  }

  private void packet(Fields fields) throws IOException {
    out.writeByteArray(PACKET, message(fields));
  }

  /** Relates the trace's clock, which begins with the first event, to the time of day; it cannot be before 1970. */
  private void begin() throws IOException {
    begun = true;
    packet(packet -> {
      packet.writeUInt32(PACKET_SEQUENCE_ID, SEQUENCE);
      packet.writeUInt32(PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
      packet.writeByteArray(PACKET_CLOCK_SNAPSHOT, message(snapshot -> {
        snapshot.writeByteArray(SNAPSHOT_CLOCKS, clock(BOOTTIME, 0));
        if (clock.firstNs() >= 0) {
          snapshot.writeByteArray(SNAPSHOT_CLOCKS, clock(REALTIME, clock.firstNs()));
        }
        snapshot.writeEnum(SNAPSHOT_PRIMARY, BOOTTIME);
      }));
    });
  }

  private static byte[] clock(int id, long timeNs) throws IOException {
    return message(clock -> {
      clock.writeUInt32(CLOCK_ID, id);
      clock.writeUInt64(CLOCK_TIMESTAMP, timeNs);
    });
  }

  @Override
  public void declare(Track track) throws IOException {
    if (!begun) {
      begin();
    }
    packet(packet -> {
      packet.writeUInt32(PACKET_SEQUENCE_ID, SEQUENCE);
      packet.writeByteArray(PACKET_TRACK_DESCRIPTOR, message(descriptor -> {
        descriptor.writeUInt64(TRACK_UUID, track.number());
        if (track.parent() != null) {
          descriptor.writeUInt64(TRACK_PARENT, track.parent().number());
        }
        switch (track.kind()) {
          case PROCESS -> descriptor.writeByteArray(TRACK_PROCESS, message(process -> {
            process.writeInt32(PROCESS_PID, track.pid());
            process.writeString(PROCESS_NAME, track.name());
          }));
          case THREAD -> descriptor.writeByteArray(TRACK_THREAD, message(thread -> {
            thread.writeInt32(THREAD_PID, track.pid());
            thread.writeInt64(THREAD_TID, track.tid());
            thread.writeString(THREAD_NAME, track.name());
          }));
          case LANE -> descriptor.writeString(TRACK_NAME, track.name());
          case COUNTER -> {
            descriptor.writeString(TRACK_NAME, track.name());
            descriptor.writeByteArray(TRACK_COUNTER, message(counter -> {
              if (!track.unit().isEmpty()) {
                counter.writeString(COUNTER_UNIT, track.unit());
              }
            }));
          }
        }
      }));
    });
  }

  @Override
  public void begin(Track lane, ArchivedEvent start, long flow) throws IOException {
    event(lane, BEGIN, event -> {
      name(event, start.type().operation(), start.type().level());
      annotations(event, start, -1);
      flow(event, flow);
    });
  }

  @Override
  public void end(Track lane, ArchivedEvent end) throws IOException {
    event(lane, END, event -> {
      if (end != null) {
        annotations(event, end, end.type().idMember());
      } else {
        event.writeByteArray(EVENT_ANNOTATIONS, annotation("end not found", FieldType.BOOL, true));
      }
    });
  }

  @Override
  public void instant(Track track, ArchivedEvent moment, long flow) throws IOException {
    event(track, INSTANT, event -> {
      name(event, moment.type().name(), moment.type().level());
      annotations(event, moment, -1);
      flow(event, flow);
    });
  }

  @Override
  public void count(Track counter, ArchivedEvent sample, int member) throws IOException {
    FieldType type = sample.type().members().get(member).type();
    Number value = (Number) sample.values()[member];
    event(counter, COUNTER, event -> {
      if (type.isFloating()) {
        event.writeDouble(EVENT_DOUBLE_COUNTER_VALUE, value.doubleValue());
      } else if (type == FieldType.U64 && value.longValue() < 0) {
        event.writeDouble(EVENT_DOUBLE_COUNTER_VALUE, unsigned(value.longValue()));
      } else {
        event.writeInt64(EVENT_COUNTER_VALUE, value.longValue());
      }
    });
  }

  private static double unsigned(long bits) {
    return Double.parseDouble(Long.toUnsignedString(bits));
  }

  private void event(Track track, int type, Fields more) throws IOException {
    byte[] event = message(fields -> {
      fields.writeEnum(EVENT_TYPE, type);
      fields.writeUInt64(EVENT_TRACK, track.number());
      more.write(fields);
    });
    newNamesOut.flush();
    packet(packet -> {
      packet.writeUInt64(PACKET_TIMESTAMP, clock.nowNs());
      packet.writeUInt32(PACKET_SEQUENCE_ID, SEQUENCE);
      packet.writeUInt32(PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
      if (newNames.size() > 0) {
        packet.writeByteArray(PACKET_INTERNED_DATA, newNames.toByteArray());
      }
      packet.writeByteArray(PACKET_TRACK_EVENT, event);
    });
    newNames.reset();
  }

  private void name(CodedOutputStream event, String name, String level) throws IOException {
    int number = number(eventNames, name);
    if (number > 0) {
      event.writeUInt64(EVENT_NAME_IID, number);
    } else {
      event.writeString(EVENT_NAME, name);
    }
    event.writeUInt64(EVENT_CATEGORY_IIDS, number(categories, level));
  }

  private static void flow(CodedOutputStream event, long flow) throws IOException {
    if (flow != 0) {
      event.writeFixed64(EVENT_FLOWS, flow);
    }
  }

  private void annotations(CodedOutputStream event, ArchivedEvent of, int without) throws IOException {
    List<ArchivedType.Member> members = of.type().members();
    for (int i = 0; i < members.size(); i++) {
      if (i != without && of.values()[i] != null) {
        ArchivedType.Member member = members.get(i);
        event.writeByteArray(EVENT_ANNOTATIONS, annotation(member.name(), member.type(), of.values()[i]));
      }
    }
  }

  private byte[] annotation(String name, FieldType type, Object value) throws IOException {
    int number = number(annotationNames, name);
    return message(annotation -> {
      if (number > 0) {
        annotation.writeUInt64(ANNOTATION_NAME_IID, number);
      } else {
        annotation.writeString(ANNOTATION_NAME, name);
      }
      switch (type) {
        case STRING, BYTES -> annotation.writeString(ANNOTATION_STRING, (String) value);
        case BOOL -> annotation.writeBool(ANNOTATION_BOOL, (Boolean) value);
        case F32, F64 -> annotation.writeDouble(ANNOTATION_DOUBLE, ((Number) value).doubleValue());
        case U64 -> annotation.writeUInt64(ANNOTATION_UINT, (Long) value);
        default -> annotation.writeInt64(ANNOTATION_INT, (Long) value);
      }
    });
  }

  /** Returns the number of a name; 0 if it has to be written in full. */
  private int number(Names names, String name) throws IOException {
    Integer known = names.numbers.get(name);
    if (known != null) {
      return known;
    }
    if (names.numbers.size() == MAX_NAMES) {
      return 0;
    }
    int number = names.numbers.size() + 1;
    names.numbers.put(name, number);
    newNamesOut.writeByteArray(names.field, message(entry -> {
      entry.writeUInt64(INTERNED_IID, number);
      entry.writeString(INTERNED_NAME, name);
    }));
    return number;
  }

  @Override
  public void finish() throws IOException {
    out.flush();
  }
}
