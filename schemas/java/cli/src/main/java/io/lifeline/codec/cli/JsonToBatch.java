package io.lifeline.codec.cli;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Compression;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.codec.Level;
import io.lifeline.codec.Parent;
import java.io.IOException;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Builds a batch from its JSON meaning (FORMAT section 13). */
final class JsonToBatch {
  private static final ObjectMapper MAPPER =
      new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

  /** Distance from base_tick up to which a tick's low 48 bits identify it; after base_tick the limit is exclusive. */
  private static final long TICK_REACH = 1L << 47;

  private final JsonNode meaning;
  private final BatchWriter writer = new BatchWriter();
  private final Map<Integer, EventType> types = new HashMap<>();

  private JsonToBatch(JsonNode meaning) {
    this.meaning = meaning;
  }

  /**
   * @throws IllegalArgumentException if this is not JSON, or not the meaning of a valid batch; the message names the
   *     fault
   */
  static byte[] toBatch(byte[] json) {
    JsonNode meaning;
    try {
      meaning = MAPPER.readTree(json);
    } catch (IOException e) {
      throw new IllegalArgumentException("this is no JSON", e);
    }
    try {
      return new JsonToBatch(meaning).build();
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException("a number is out of its range", e);
    }
  }

  private byte[] build() {
    if (JsonFields.i32(meaning, "version") != 1) {
      throw new IllegalArgumentException("only version 1 can be written");
    }
    setHeader();
    setCounters();
    setCalibrations();
    if (meaning.has("parent")) {
      setParent(JsonFields.member(meaning, "parent"));
    }
    for (JsonNode pair : JsonFields.list(meaning, "context")) {
      if (pair.size() != 2) {
        throw new IllegalArgumentException("a context entry is a key and a value");
      }
      writer.context(JsonFields.text(pair.path(0)), JsonFields.text(pair.path(1)));
    }
    for (JsonNode type : JsonFields.list(meaning, "types")) {
      addType(type);
    }
    addEvents();
    return writer.toByteArray();
  }

  private void setHeader() {
    ByteOrderName order = JsonFields.constant(ByteOrderName.class, meaning, "byte_order");
    writer.byteOrder(order == ByteOrderName.BIG ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    writer.compression(
        JsonFields.constant(Compression.class, meaning, "compression"), JsonFields.i32(meaning, "shuffle"));
    int flags = 0;
    for (JsonNode flag : JsonFields.list(meaning, "flags")) {
      flags |= FlagName.valueOf(JsonFields.text(flag)).bit;
    }
    if ((flags & FlagName.DERIVED.bit) != 0 != meaning.has("parent")) {
      throw new IllegalArgumentException("DERIVED and \"parent\" come together");
    }
    writer.flags(flags);
    writer.incarnation(Incarnation.parse(JsonFields.text(meaning, "incarnation")));
    writer.sequence(JsonFields.unsigned(meaning, "sequence"));
    boolean monotonic = JsonFields.constant(ClockName.class, meaning, "clock") == ClockName.MONOTONIC;
    writer.ticks(JsonFields.unsigned(meaning, "base_tick"), JsonFields.unsigned(meaning, "tick_hz"), monotonic);
    writer.pid(JsonFields.integer(JsonFields.member(meaning, "pid")));
    writer.route(JsonFields.i32(meaning, "route"), JsonFields.text(meaning, "route_name"));
    writer.host(JsonFields.text(meaning, "host"));
    writer.program(JsonFields.text(meaning, "program"));
  }

  private void setCounters() {
    JsonNode list = JsonFields.list(meaning, "counters");
    long[] counters = new long[list.size()];
    for (int i = 0; i < counters.length; i++) {
      counters[i] = Long.parseUnsignedLong(JsonFields.text(list.get(i)));
    }
    writer.counters(counters);
  }

  private void setCalibrations() {
    JsonNode list = JsonFields.list(meaning, "calibrations");
    if (list.isEmpty()) {
      throw new IllegalArgumentException("a batch has at least one calibration");
    }
    for (JsonNode calibration : list) {
      writer.calibration(
          JsonFields.unsigned(calibration, "tick"),
          JsonFields.unsigned(calibration, "monotonic_ns"),
          Long.parseLong(JsonFields.text(calibration, "realtime_offset_ns")),
          JsonFields.integer(JsonFields.member(calibration, "error_ns")),
          JsonFields.bool(JsonFields.member(calibration, "step")));
    }
  }

  private void setParent(JsonNode parent) {
    writer.parent(
        new Parent(
            Incarnation.parse(JsonFields.text(parent, "incarnation")),
            JsonFields.unsigned(parent, "sequence"),
            JsonFields.i32(parent, "route"),
            JsonFields.integer(JsonFields.member(parent, "events_in")),
            JsonFields.integer(JsonFields.member(parent, "events_out"))));
  }

  private void addType(JsonNode json) {
    EventType.Builder builder =
        EventType.named(JsonFields.text(json, "name")).level(JsonFields.constant(Level.class, json, "level"));
    for (JsonNode field : JsonFields.list(json, "fields")) {
      builder.field(
          JsonFields.text(field, "name"),
          JsonFields.constant(FieldType.class, field, "type"),
          JsonFields.text(field, "unit"));
    }
    for (JsonNode constant : JsonFields.list(json, "constants")) {
      FieldType type = JsonFields.constant(FieldType.class, constant, "type");
      Object value = JsonValues.read(type, JsonFields.member(constant, "value"));
      builder.constant(JsonFields.text(constant, "name"), type, JsonFields.text(constant, "unit"), value);
    }
    int number = JsonFields.i32(json, "number");
    EventType type = builder.build();
    writer.type(number, type);
    types.put(number, type);
  }

  private void addEvents() {
    Iterator<JsonNode> events = JsonFields.list(meaning, "events").iterator();
    for (JsonNode segment : JsonFields.list(meaning, "segments")) {
      writer.thread(JsonFields.unsigned(segment, "thread"));
      int count = JsonFields.i32(segment, "events");
      for (int i = 0; i < count; i++) {
        if (!events.hasNext()) {
          throw new IllegalArgumentException("the segments have more events than the list");
        }
        addEvent(events.next());
      }
    }
    if (events.hasNext()) {
      throw new IllegalArgumentException("the segments have fewer events than the list");
    }
  }

  private void addEvent(JsonNode event) {
    int number = JsonFields.i32(event, "type");
    if (!types.containsKey(number)) {
      throw new IllegalArgumentException("no type has the number " + number);
    }
    List<Field> fields = types.get(number).fields();
    JsonNode json = JsonFields.list(event, "fields");
    if (json.size() != fields.size()) {
      throw new IllegalArgumentException("an event has " + json.size() + " values for " + fields.size() + " fields");
    }
    Object[] values = new Object[fields.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = JsonValues.read(fields.get(i).type(), json.get(i));
    }
    long tick = JsonFields.unsigned(event, "tick");
    long distance = tick - JsonFields.unsigned(meaning, "base_tick");
    if (distance < -TICK_REACH || distance >= TICK_REACH) {
      throw new IllegalArgumentException("an event's tick is further from base_tick than 48 bits reach");
    }
    writer.event(number, tick, values);
  }

  private enum ByteOrderName {
    LITTLE,
    BIG
  }

  private enum ClockName {
    TICKS,
    MONOTONIC
  }
}
