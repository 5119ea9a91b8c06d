package io.lifeline.connect.batch;

import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;

/**
 * The batch of schemas/FORMAT.md, section 13, in Connect's types. The schema is the same for every batch, whatever its
 * event types, so that a schema registry holds one version.
 */
public final class BatchSchema {

  /** Schema name; {@link BatchConverter} encodes only structs with this name. */
  public static final String NAME = "io.lifeline.Batch";

  /** Increases with each added member; members are never removed or redefined. */
  public static final int VERSION = 1;

  static final Schema VALUE =
      SchemaBuilder.struct()
          .name("io.lifeline.Value")
          .doc("Exactly one is there, but a string that is no UTF-8 has its bytes besides.")
          .field("integer", doc(Schema.Type.INT64, "i32, i64, u32, and the bits of u64").optional().build())
          .field("f32", Schema.OPTIONAL_FLOAT32_SCHEMA)
          .field("f64", Schema.OPTIONAL_FLOAT64_SCHEMA)
          .field("string", Schema.OPTIONAL_STRING_SCHEMA)
          .field("bool", Schema.OPTIONAL_BOOLEAN_SCHEMA)
          .field("bytes", Schema.OPTIONAL_BYTES_SCHEMA)
          .build();

  static final Schema CALIBRATION =
      SchemaBuilder.struct()
          .name("io.lifeline.Calibration")
          .field("tick", Schema.INT64_SCHEMA)
          .field("monotonic_ns", Schema.INT64_SCHEMA)
          .field("realtime_offset_ns", Schema.INT64_SCHEMA)
          .field("error_ns", Schema.INT64_SCHEMA)
          .field("step", Schema.BOOLEAN_SCHEMA)
          .build();

  static final Schema SEGMENT =
      SchemaBuilder.struct()
          .name("io.lifeline.Segment")
          .doc("A run of events of one thread; the first segment's events come first.")
          .field("thread", Schema.INT64_SCHEMA)
          .field("events", Schema.INT32_SCHEMA)
          .build();

  static final Schema PARENT =
      SchemaBuilder.struct()
          .name("io.lifeline.Parent")
          .doc("The batch that a filter made this one from.")
          .optional()
          .field("incarnation", Schema.STRING_SCHEMA)
          .field("sequence", Schema.INT64_SCHEMA)
          .field("route", Schema.INT32_SCHEMA)
          .field("events_in", Schema.INT64_SCHEMA)
          .field("events_out", Schema.INT64_SCHEMA)
          .build();

  static final Schema CONTEXT =
      SchemaBuilder.struct()
          .name("io.lifeline.Context")
          .doc("What holds for the whole batch; of a repeated key the last value counts.")
          .field("key", Schema.STRING_SCHEMA)
          .field("value", Schema.STRING_SCHEMA)
          .build();

  static final Schema FIELD =
      SchemaBuilder.struct()
          .name("io.lifeline.Field")
          .field("type", doc(Schema.Type.STRING, "i32, i64, f32, f64, string, u32, u64, bool or bytes").build())
          .field("name", Schema.STRING_SCHEMA)
          .field("unit", Schema.STRING_SCHEMA)
          .build();

  static final Schema CONSTANT =
      SchemaBuilder.struct()
          .name("io.lifeline.Constant")
          .field("type", Schema.STRING_SCHEMA)
          .field("name", Schema.STRING_SCHEMA)
          .field("unit", Schema.STRING_SCHEMA)
          .field("value", VALUE)
          .build();

  static final Schema TYPE =
      SchemaBuilder.struct()
          .name("io.lifeline.EventType")
          .field("number", doc(Schema.Type.INT32, "by which this batch's events name it").build())
          .field("name", Schema.STRING_SCHEMA)
          .field("level", Schema.STRING_SCHEMA)
          .field("hash", doc(Schema.Type.STRING, "16 hexadecimal digits; computed, not read when encoding").build())
          .field("fields", SchemaBuilder.array(FIELD).build())
          .field("constants", SchemaBuilder.array(CONSTANT).build())
          .build();

  static final Schema EVENT =
      SchemaBuilder.struct()
          .name("io.lifeline.Event")
          .field("type", doc(Schema.Type.STRING, "the type's name; not read when encoding").build())
          .field("number", doc(Schema.Type.INT32, "the type's number in types").build())
          .field("time_ns", doc(Schema.Type.INT64, "nanoseconds since 1970; computed, not read when encoding").build())
          .field("tick", Schema.INT64_SCHEMA)
          .field("thread", doc(Schema.Type.INT64, "the kernel's id of it; encoding reads segments").build())
          .field("fields", SchemaBuilder.map(Schema.STRING_SCHEMA, VALUE).build())
          .build();

  /** The schema of a whole batch. */
  public static final Schema BATCH =
      SchemaBuilder.struct()
          .name(NAME)
          .version(VERSION)
          .doc("A Lifeline batch; schemas/FORMAT.md defines the members. Unsigned numbers keep their bits.")
          .field("incarnation", doc(Schema.Type.STRING, "32 hexadecimal digits: this run of the emitter").build())
          .field("route", Schema.INT32_SCHEMA)
          .field("route_name", Schema.STRING_SCHEMA)
          .field("sequence", Schema.INT64_SCHEMA)
          .field("host", Schema.STRING_SCHEMA)
          .field("program", Schema.STRING_SCHEMA)
          .field("pid", Schema.INT64_SCHEMA)
          .field("flags", SchemaBuilder.array(Schema.STRING_SCHEMA).build())
          .field("counters", SchemaBuilder.map(Schema.STRING_SCHEMA, Schema.INT64_SCHEMA).build())
          .field("context", SchemaBuilder.array(CONTEXT).build())
          .field("parent", PARENT)
          .field("byte_order", doc(Schema.Type.STRING, "little or big").build())
          .field("compression", doc(Schema.Type.STRING, "none, lz4 or zstd").build())
          .field("shuffle", Schema.INT32_SCHEMA)
          .field("base_tick", Schema.INT64_SCHEMA)
          .field("tick_hz", Schema.INT64_SCHEMA)
          .field("clock", doc(Schema.Type.STRING, "ticks or monotonic").build())
          .field("calibrations", SchemaBuilder.array(CALIBRATION).build())
          .field("segments", SchemaBuilder.array(SEGMENT).build())
          .field("types", SchemaBuilder.array(TYPE).build())
          .field("events", SchemaBuilder.array(EVENT).build())
          .build();

  private BatchSchema() {}

  private static SchemaBuilder doc(Schema.Type type, String text) {
    return SchemaBuilder.type(type).doc(text);
  }
}
