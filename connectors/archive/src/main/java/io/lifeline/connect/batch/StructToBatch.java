package io.lifeline.connect.batch;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Compression;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.codec.Level;
import io.lifeline.codec.Parent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.connect.data.Struct;

/** Encodes a struct of {@link BatchSchema} as a batch. */
final class StructToBatch {

  private final Struct struct;
  private final BatchWriter writer = new BatchWriter();
  private final Map<Integer, EventType> types = new HashMap<>();

  private StructToBatch(Struct struct) {
    this.struct = struct;
  }

  /**
   * @throws IllegalArgumentException if this is not the meaning of a legal batch; says what is not, without its content
   */
  static byte[] batch(Struct struct) {
    return new StructToBatch(struct).build();
  }

  private byte[] build() {
    setHeader();
    for (Struct calibration : structs(struct, "calibrations")) {
      writer.calibration(
          calibration.getInt64("tick"),
          calibration.getInt64("monotonic_ns"),
          calibration.getInt64("realtime_offset_ns"),
          calibration.getInt64("error_ns"),
          calibration.getBoolean("step"));
    }
    Struct parent = struct.getStruct("parent");
    if (parent != null) {
      writer.parent(
          new Parent(
              Incarnation.parse(parent.getString("incarnation")),
              parent.getInt64("sequence"),
              parent.getInt32("route"),
              parent.getInt64("events_in"),
              parent.getInt64("events_out")));
    }
    for (Struct pair : structs(struct, "context")) {
      writer.context(pair.getString("key"), pair.getString("value"));
    }
    structs(struct, "types").forEach(this::addType);
    addEvents();
    return writer.toByteArray();
  }

  private void setHeader() {
    writer
        .byteOrder(oneOf("byte_order", "big", "little") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN)
        .compression(constant(Compression.class, struct.getString("compression")), struct.getInt32("shuffle"))
        .flags(flags())
        .incarnation(Incarnation.parse(struct.getString("incarnation")))
        .sequence(struct.getInt64("sequence"))
        .ticks(struct.getInt64("base_tick"), struct.getInt64("tick_hz"), oneOf("clock", "monotonic", "ticks"))
        .pid(struct.getInt64("pid"))
        .route(struct.getInt32("route"), struct.getString("route_name"))
        .host(struct.getString("host"))
        .program(struct.getString("program"))
        .counters(counters());
  }

  private int flags() {
    int bits = 0;
    for (String name : struct.<String>getArray("flags")) {
      bits |= constant(Flag.class, name).bit;
    }
    if ((bits & Flag.DERIVED.bit) != 0 != (struct.getStruct("parent") != null)) {
      throw new IllegalArgumentException("the flag DERIVED and parent come together");
    }
    return bits;
  }

  /** Missing counters are 0. */
  private long[] counters() {
    Map<String, Long> byName = struct.getMap("counters");
    long[] counters = new long[Math.max(Counter.values().length, byName.size())];
    int given = 0;
    for (int i = 0; i < counters.length; i++) {
      Long value = byName.get(BatchToStruct.counterName(i));
      if (value != null) {
        counters[i] = value;
        given++;
      }
    }
    if (given < byName.size()) {
      throw new IllegalArgumentException("a counter has a name that the format does not know");
    }
    return counters;
  }

  private void addType(Struct described) {
    EventType.Builder builder =
        EventType.named(described.getString("name")).level(constant(Level.class, described.getString("level")));
    for (Struct field : structs(described, "fields")) {
      builder.field(field.getString("name"), fieldType(field), field.getString("unit"));
    }
    for (Struct constant : structs(described, "constants")) {
      FieldType type = fieldType(constant);
      Object value = value(constant.getStruct("value"), type, constant.getString("name"));
      builder.constant(
          constant.getString("name"),
          type,
          constant.getString("unit"),
          type == FieldType.I32 ? Math.toIntExact((Long) value) : value);
    }
    EventType type = builder.build();
    writer.type(described.getInt32("number"), type);
    types.put(described.getInt32("number"), type);
  }

  private void addEvents() {
    Iterator<Struct> events = structs(struct, "events").iterator();
    for (Struct segment : structs(struct, "segments")) {
      writer.thread(segment.getInt64("thread"));
      for (int i = segment.getInt32("events"); i > 0; i--) {
        if (!events.hasNext()) {
          throw new IllegalArgumentException("the segments have more events than there are");
        }
        addEvent(events.next());
      }
    }
    if (events.hasNext()) {
      throw new IllegalArgumentException("the segments have fewer events than there are");
    }
  }

  private void addEvent(Struct event) {
    int number = event.getInt32("number");
    EventType type = types.get(number);
    if (type == null) {
      throw new IllegalArgumentException("no type has the number " + number);
    }
    Map<String, Struct> given = event.getMap("fields");
    List<Field> fields = type.fields();
    if (given.size() != fields.size()) {
      throw new IllegalArgumentException(
          "an event of " + type.name() + " has " + given.size() + " values for " + fields.size() + " fields");
    }
    Object[] values = new Object[fields.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = value(given.get(fields.get(i).name()), fields.get(i).type(), fields.get(i).name());
    }
    writer.event(number, event.getInt64("tick"), values);
  }

  /** The member for the type. A string's bytes, being exact, take precedence over its text. */
  private static Object value(Struct value, FieldType type, String name) {
    Object given = value == null ? null : member(value, type);
    if (given == null) {
      throw new IllegalArgumentException("the field " + name + " has no value of its type, " + type.label());
    }
    return given;
  }

  private static Object member(Struct value, FieldType type) {
    return switch (type) {
      case F32 -> value.getFloat32("f32");
      case F64 -> value.getFloat64("f64");
      case BOOL -> value.getBoolean("bool");
      case STRING -> value.get("bytes") != null ? bytes(value) : value.getString("string");
      case BYTES -> bytes(value);
      default -> value.getInt64("integer");
    };
  }

  private static byte[] bytes(Struct value) {
    Object bytes = value.get("bytes");
    if (!(bytes instanceof ByteBuffer buffer)) {
      return (byte[]) bytes;
    }
    byte[] copy = new byte[buffer.remaining()];
    buffer.duplicate().get(copy);
    return copy;
  }

  private boolean oneOf(String member, String yes, String no) {
    String value = struct.getString(member);
    if (!value.equals(yes) && !value.equals(no)) {
      throw new IllegalArgumentException(member + " is " + yes + " or " + no);
    }
    return value.equals(yes);
  }

  private static FieldType fieldType(Struct struct) {
    return constant(FieldType.class, struct.getString("type"));
  }

  private static <E extends Enum<E>> E constant(Class<E> type, String name) {
    try {
      return Enum.valueOf(type, name.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("there is no such " + type.getSimpleName() + " in the format", e);
    }
  }

  private static List<Struct> structs(Struct struct, String member) {
    return struct.getArray(member);
  }
}
