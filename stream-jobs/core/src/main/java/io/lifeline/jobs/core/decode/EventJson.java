package io.lifeline.jobs.core.decode;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Constant;
import io.lifeline.codec.EventType;
import io.lifeline.codec.Field;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.core.FieldNames;
import io.lifeline.jobs.core.JsonWriter;
import io.lifeline.jobs.core.Timestamps;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * Formats an event as a flat JSON object, which suits ksqlDB and people: first the members that every event has, then
 * its constants and fields by name. A field whose name collides with a common member, with or without trailing
 * underscores, gets the suffix {@code _}. JSON has no NaN and no infinities: such values are null, and
 * {@code non_finite} lists them.
 */
public final class EventJson {

  private final JsonWriter json = new JsonWriter();
  private final List<String> nonFinite = new ArrayList<>();

  /** @param incarnation as text */
  public byte[] of(BatchReader batch, String incarnation) {
    EventType type = batch.type();
    json.reset()
        .beginObject()
        .field("ts", Timestamps.iso(batch.timeNs()))
        .field("ts_ns", batch.timeNs())
        .field("type", type.name())
        .field("level", type.level().label())
        .field("host", batch.host())
        .field("program", batch.program())
        .field("pid", batch.pid())
        .name("thread")
        .valueUnsigned(batch.thread())
        .field("incarnation", incarnation)
        .field("route", batch.route())
        .name("sequence")
        .valueUnsigned(batch.sequence())
        .field("event_index", batch.eventIndex());
    nonFinite.clear();
    type.constants().forEach(this::constant);
    for (int i = 0; i < type.fields().size(); i++) {
      field(batch, i, type.fields().get(i));
    }
    if (!nonFinite.isEmpty()) {
      json.name("non_finite").beginObject();
      for (int i = 0; i < nonFinite.size(); i += 2) {
        json.field(nonFinite.get(i), nonFinite.get(i + 1));
      }
      json.endObject();
    }
    return json.endObject().toBytes();
  }

  private void constant(Constant constant) {
    String name = name(constant.name());
    Object value = constant.value();
    json.name(name);
    if (value instanceof Boolean truth) {
      json.value(truth);
    } else if (value instanceof byte[] bytes) {
      json.value(HexFormat.of().formatHex(bytes));
    } else if (value instanceof Float || value instanceof Double) {
      real(name, Double.parseDouble(value.toString()));
    } else if (value instanceof Number number) {
      integer(constant.type(), number.longValue());
    } else {
      json.value(value.toString());
    }
  }

  private void field(BatchReader batch, int index, Field field) {
    String name = name(field.name());
    json.name(name);
    switch (field.type()) {
      case F32 -> single(name, (float) batch.getDouble(index));
      case F64 -> real(name, batch.getDouble(index));
      case BOOL -> json.value(batch.getBoolean(index));
      case STRING -> json.value(batch.getString(index));
      case BYTES -> json.value(HexFormat.of().formatHex(batch.getBytes(index)));
      default -> integer(field.type(), batch.getLong(index));
    }
  }

  private void integer(FieldType type, long value) {
    if (type == FieldType.U64) {
      json.valueUnsigned(value);
    } else {
      json.value(value);
    }
  }

  /** Writes the shortest decimal number that identifies the float: 0.1 and not 0.10000000149011612. */
  private void single(String name, float value) {
    real(name, Float.isFinite(value) ? Double.parseDouble(Float.toString(value)) : value);
  }

  private void real(String name, double value) {
    if (!Double.isFinite(value)) {
      nonFinite.add(name);
      nonFinite.add(Double.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf");
    }
    json.value(value);
  }

  private static String name(String name) {
    return FieldNames.beside(FieldNames.EVERY_EVENT, name);
  }
}
