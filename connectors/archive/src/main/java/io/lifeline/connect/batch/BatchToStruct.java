package io.lifeline.connect.batch;

import io.lifeline.codec.BatchHeader;
import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Calibration;
import io.lifeline.codec.Constant;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Parent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.connect.data.Struct;

/** Converts a reader's batch to a struct of {@link BatchSchema}. */
final class BatchToStruct {

  private BatchToStruct() {}

  static Struct struct(BatchReader batch) {
    BatchHeader header = batch.header();
    Struct struct =
        new Struct(BatchSchema.BATCH)
            .put("incarnation", header.incarnation().toString())
            .put("route", header.route())
            .put("route_name", header.routeName())
            .put("sequence", header.sequence())
            .put("host", header.host())
            .put("program", header.program())
            .put("pid", header.pid())
            .put("flags", Arrays.stream(Flag.values()).filter(f -> header.has(f.bit)).map(Flag::name).toList())
            .put("counters", counters(header))
            .put("context", header.contextPairs().stream().map(BatchToStruct::context).toList())
            .put("byte_order", header.byteOrder() == ByteOrder.BIG_ENDIAN ? "big" : "little")
            .put("compression", header.compression().name().toLowerCase(Locale.ROOT))
            .put("shuffle", header.shuffle())
            .put("base_tick", header.baseTick())
            .put("tick_hz", header.tickHz())
            .put("clock", header.monotonicTicks() ? "monotonic" : "ticks")
            .put("calibrations", header.calibrations().stream().map(BatchToStruct::calibration).toList())
            .put("segments", segments(header))
            .put("types", types(batch))
            .put("events", events(batch));
    return header.parent() == null ? struct : struct.put("parent", parent(header.parent()));
  }

  private static Map<String, Long> counters(BatchHeader header) {
    Map<String, Long> counters = new LinkedHashMap<>();
    for (int i = 0; i < header.counterCount(); i++) {
      counters.put(counterName(i), header.counter(i));
    }
    return counters;
  }

  /** Flags of later formats are named by their bit. */
  static String counterName(int place) {
    Counter[] known = Counter.values();
    return place < known.length ? known[place].label() : "counter_" + place;
  }

  private static Struct calibration(Calibration calibration) {
    return new Struct(BatchSchema.CALIBRATION)
        .put("tick", calibration.tick())
        .put("monotonic_ns", calibration.monotonicNs())
        .put("realtime_offset_ns", calibration.realtimeOffsetNs())
        .put("error_ns", calibration.errorNs())
        .put("step", calibration.step());
  }

  private static Struct context(Map.Entry<String, String> pair) {
    return new Struct(BatchSchema.CONTEXT).put("key", pair.getKey()).put("value", pair.getValue());
  }

  private static Struct parent(Parent parent) {
    return new Struct(BatchSchema.PARENT)
        .put("incarnation", parent.incarnation().toString())
        .put("sequence", parent.sequence())
        .put("route", parent.route())
        .put("events_in", parent.eventsIn())
        .put("events_out", parent.eventsOut());
  }

  private static List<Struct> segments(BatchHeader header) {
    List<Struct> segments = new ArrayList<>();
    for (int i = 0; i < header.segmentCount(); i++) {
      segments.add(
          new Struct(BatchSchema.SEGMENT)
              .put("thread", header.segmentThread(i))
              .put("events", header.segmentEvents(i)));
    }
    return segments;
  }

  private static List<Struct> types(BatchReader batch) {
    List<Struct> types = new ArrayList<>();
    for (int i = 0; i < batch.types().size(); i++) {
      EventType type = batch.types().get(i);
      types.add(
          new Struct(BatchSchema.TYPE)
              .put("number", batch.typeNumber(i))
              .put("name", type.name())
              .put("level", type.level().label())
              .put("hash", type.hashHex())
              .put("fields", type.fields().stream().map(BatchToStruct::field).toList())
              .put("constants", type.constants().stream().map(BatchToStruct::constant).toList()));
    }
    return types;
  }

  private static Struct field(Field field) {
    return new Struct(BatchSchema.FIELD)
        .put("type", field.type().label())
        .put("name", field.name())
        .put("unit", field.unit());
  }

  private static Struct constant(Constant constant) {
    Object value = constant.value();
    Struct struct = new Struct(BatchSchema.VALUE);
    switch (constant.type()) {
      case F32 -> struct.put("f32", value);
      case F64 -> struct.put("f64", value);
      case STRING -> struct.put("string", value);
      case BOOL -> struct.put("bool", value);
      case BYTES -> struct.put("bytes", ByteBuffer.wrap((byte[]) value));
      default -> struct.put("integer", ((Number) value).longValue());
    }
    return new Struct(BatchSchema.CONSTANT)
        .put("type", constant.type().label())
        .put("name", constant.name())
        .put("unit", constant.unit())
        .put("value", struct);
  }

  private static List<Struct> events(BatchReader batch) {
    List<Struct> events = new ArrayList<>(batch.eventCount());
    batch.rewind();
    while (batch.next()) {
      List<Field> fields = batch.type().fields();
      Map<String, Struct> values = new LinkedHashMap<>();
      for (int i = 0; i < fields.size(); i++) {
        values.put(fields.get(i).name(), value(batch, i, fields.get(i).type()));
      }
      events.add(
          new Struct(BatchSchema.EVENT)
              .put("type", batch.type().name())
              .put("number", batch.typeNumber())
              .put("time_ns", batch.timeNs())
              .put("tick", batch.tick())
              .put("thread", batch.thread())
              .put("fields", values));
    }
    return events;
  }

  private static Struct value(BatchReader batch, int field, FieldType type) {
    Struct value = new Struct(BatchSchema.VALUE);
    return switch (type) {
      case F32 -> value.put("f32", Float.intBitsToFloat((int) batch.getFloatBits(field)));
      case F64 -> value.put("f64", Double.longBitsToDouble(batch.getFloatBits(field)));
      case STRING -> string(value, batch.getString(field), batch.getBytes(field));
      case BOOL -> value.put("bool", batch.getBoolean(field));
      case BYTES -> value.put("bytes", ByteBuffer.wrap(batch.getBytes(field)));
      default -> value.put("integer", batch.getLong(field));
    };
  }

  /** Invalid UTF-8 keeps its bytes, so that it can be encoded again. */
  private static Struct string(Struct value, String text, byte[] bytes) {
    value.put("string", text);
    return Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes)
        ? value
        : value.put("bytes", ByteBuffer.wrap(bytes));
  }
}
