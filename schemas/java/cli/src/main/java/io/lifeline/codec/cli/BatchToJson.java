package io.lifeline.codec.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.lifeline.codec.BatchHeader;
import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Calibration;
import io.lifeline.codec.Constant;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Parent;
import io.lifeline.codec.RejectedBatchException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.util.Map;

/** Converts a batch to its JSON meaning (FORMAT section 13). */
final class BatchToJson {
  private static final JsonFactory FACTORY = new JsonFactory();

  private final BatchReader reader;
  private final BatchHeader header;
  private final JsonGenerator json;

  private BatchToJson(BatchReader reader, JsonGenerator json) {
    this.reader = reader;
    this.header = reader.header();
    this.json = json;
  }

  /** Returns one line, without the line break. */
  static byte[] toJson(BatchReader reader) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = FACTORY.createGenerator(out)) {
      new BatchToJson(reader, json).write();
    }
    return out.toByteArray();
  }

  static byte[] rejection(RejectedBatchException rejected) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = FACTORY.createGenerator(out)) {
      json.writeStartObject();
      json.writeStringField("rejected", rejected.code());
      json.writeNumberField("offset", rejected.offset());
      json.writeStringField("message", rejected.getMessage());
      json.writeEndObject();
    }
    return out.toByteArray();
  }

  private void write() throws IOException {
    json.writeStartObject();
    writeHeader();
    writeCounters();
    writeCalibrations();
    writeSegments();
    if (header.parent() != null) {
      writeParent(header.parent());
    }
    writeContext();
    writeTypes();
    writeEvents();
    json.writeEndObject();
  }

  private void writeHeader() throws IOException {
    json.writeNumberField("version", 1);
    json.writeStringField("byte_order", header.byteOrder() == ByteOrder.BIG_ENDIAN ? "big" : "little");
    json.writeStringField("compression", header.compression().label());
    json.writeNumberField("shuffle", header.shuffle());
    json.writeArrayFieldStart("flags");
    for (FlagName flag : FlagName.values()) {
      if (header.has(flag.bit)) {
        json.writeString(flag.name());
      }
    }
    json.writeEndArray();
    json.writeStringField("incarnation", header.incarnation().toString());
    writeUnsigned("sequence", header.sequence());
    writeUnsigned("base_tick", header.baseTick());
    writeUnsigned("tick_hz", header.tickHz());
    json.writeStringField("clock", header.monotonicTicks() ? "monotonic" : "ticks");
    json.writeNumberField("pid", header.pid());
    json.writeNumberField("route", header.route());
    json.writeStringField("route_name", header.routeName());
    json.writeStringField("host", header.host());
    json.writeStringField("program", header.program());
  }

  private void writeCounters() throws IOException {
    json.writeArrayFieldStart("counters");
    for (int i = 0; i < header.counterCount(); i++) {
      json.writeString(Long.toUnsignedString(header.counter(i)));
    }
    json.writeEndArray();
  }

  private void writeCalibrations() throws IOException {
    json.writeArrayFieldStart("calibrations");
    for (Calibration calibration : header.calibrations()) {
      json.writeStartObject();
      writeUnsigned("tick", calibration.tick());
      writeUnsigned("monotonic_ns", calibration.monotonicNs());
      json.writeStringField("realtime_offset_ns", Long.toString(calibration.realtimeOffsetNs()));
      json.writeNumberField("error_ns", calibration.errorNs());
      json.writeBooleanField("step", calibration.step());
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private void writeSegments() throws IOException {
    json.writeArrayFieldStart("segments");
    for (int i = 0; i < header.segmentCount(); i++) {
      json.writeStartObject();
      writeUnsigned("thread", header.segmentThread(i));
      json.writeNumberField("events", header.segmentEvents(i));
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private void writeParent(Parent parent) throws IOException {
    json.writeObjectFieldStart("parent");
    json.writeStringField("incarnation", parent.incarnation().toString());
    writeUnsigned("sequence", parent.sequence());
    json.writeNumberField("route", parent.route());
    json.writeNumberField("events_in", parent.eventsIn());
    json.writeNumberField("events_out", parent.eventsOut());
    json.writeEndObject();
  }

  private void writeContext() throws IOException {
    json.writeArrayFieldStart("context");
    for (Map.Entry<String, String> pair : header.contextPairs()) {
      json.writeStartArray();
      json.writeString(pair.getKey());
      json.writeString(pair.getValue());
      json.writeEndArray();
    }
    json.writeEndArray();
  }

  private void writeTypes() throws IOException {
    json.writeArrayFieldStart("types");
    for (int i = 0; i < reader.types().size(); i++) {
      EventType type = reader.types().get(i);
      json.writeStartObject();
      json.writeNumberField("number", reader.typeNumber(i));
      json.writeStringField("hash", type.hashHex());
      json.writeStringField("level", type.level().label());
      json.writeStringField("name", type.name());
      json.writeArrayFieldStart("fields");
      for (Field field : type.fields()) {
        json.writeStartObject();
        writeField(field.type(), field.name(), field.unit());
        json.writeEndObject();
      }
      json.writeEndArray();
      writeConstants(type);
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private void writeConstants(EventType type) throws IOException {
    json.writeArrayFieldStart("constants");
    for (Constant constant : type.constants()) {
      json.writeStartObject();
      writeField(constant.type(), constant.name(), constant.unit());
      json.writeFieldName("value");
      JsonValues.write(json, constant.type(), constant.value());
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private void writeField(FieldType type, String name, String unit) throws IOException {
    json.writeStringField("type", type.label());
    json.writeStringField("name", name);
    json.writeStringField("unit", unit);
  }

  private void writeEvents() throws IOException {
    json.writeArrayFieldStart("events");
    reader.rewind();
    while (reader.next()) {
      json.writeStartObject();
      json.writeNumberField("type", reader.typeNumber());
      writeUnsigned("tick", reader.tick());
      json.writeStringField("time_ns", Long.toString(reader.timeNs()));
      json.writeArrayFieldStart("fields");
      int count = reader.type().fields().size();
      for (int field = 0; field < count; field++) {
        JsonValues.write(json, reader.type().fields().get(field).type(), value(field));
      }
      json.writeEndArray();
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private Object value(int field) {
    switch (reader.type().fields().get(field).type()) {
      case STRING:
        return reader.getString(field);
      case BYTES:
        return reader.getBytes(field);
      case BOOL:
        return reader.getBoolean(field);
      case F32:
        return Float.intBitsToFloat((int) reader.getFloatBits(field));
      case F64:
        return Double.longBitsToDouble(reader.getFloatBits(field));
      default:
        return reader.getLong(field);
    }
  }

  private void writeUnsigned(String name, long value) throws IOException {
    json.writeStringField(name, Long.toUnsignedString(value));
  }
}
