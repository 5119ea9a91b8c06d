package io.lifeline.ksql;

import io.confluent.ksql.function.udf.UdfParameter;
import io.confluent.ksql.function.udtf.Udtf;
import io.confluent.ksql.function.udtf.UdtfDescription;
import io.lifeline.codec.RejectedBatchException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;

/** The table function that turns a batch into rows. ksqlDB shares one instance among all queries and their threads. */
@UdtfDescription(
    name = "lifeline_events",
    description = "Makes a row of each event of a batch, for ad-hoc looks at lifeline.batches",
    category = Functions.CATEGORY,
    author = Functions.AUTHOR,
    version = Functions.VERSION)
public final class EventsFunction {

  static final String ROW =
      "STRUCT<ts VARCHAR, ts_ns BIGINT, type VARCHAR, level VARCHAR, host VARCHAR, program VARCHAR, id VARCHAR, "
          + "fields MAP<VARCHAR, VARCHAR>>";

  /** The same schema for Connect; ksqlDB converts unquoted names to upper case. */
  static final Schema SCHEMA =
      SchemaBuilder.struct()
          .optional()
          .field("TS", Schema.OPTIONAL_STRING_SCHEMA)
          .field("TS_NS", Schema.OPTIONAL_INT64_SCHEMA)
          .field("TYPE", Schema.OPTIONAL_STRING_SCHEMA)
          .field("LEVEL", Schema.OPTIONAL_STRING_SCHEMA)
          .field("HOST", Schema.OPTIONAL_STRING_SCHEMA)
          .field("PROGRAM", Schema.OPTIONAL_STRING_SCHEMA)
          .field("ID", Schema.OPTIONAL_STRING_SCHEMA)
          .field(
              "FIELDS",
              SchemaBuilder.map(Schema.OPTIONAL_STRING_SCHEMA, Schema.OPTIONAL_STRING_SCHEMA).optional().build())
          .build();

  /**
   * Returns the batch's events. Invalid batches yield no rows, and an entry in ksqlDB's processing log.
   *
   * @param batch a message of lifeline.batches; null yields no rows
   * @throws IllegalArgumentException if it is not a valid batch, with the code and the offset
   */
  @Udtf(description = "The events of a batch; all fields as text, in a map", schema = ROW)
  public List<Struct> events(@UdfParameter(description = "a message of lifeline.batches") ByteBuffer batch) {
    if (batch == null) {
      return List.of();
    }
    try {
      return EventRow.of(Buffers.bytes(batch)).stream().map(EventsFunction::struct).collect(Collectors.toList());
    } catch (RejectedBatchException e) {
      throw new IllegalArgumentException(e.toString(), e);
    }
  }

  private static Struct struct(EventRow row) {
    return new Struct(SCHEMA)
        .put("TS", Nanoseconds.iso(row.timeNs))
        .put("TS_NS", row.timeNs)
        .put("TYPE", row.type)
        .put("LEVEL", row.level)
        .put("HOST", row.host)
        .put("PROGRAM", row.program)
        .put("ID", row.id)
        .put("FIELDS", row.fields);
  }
}
