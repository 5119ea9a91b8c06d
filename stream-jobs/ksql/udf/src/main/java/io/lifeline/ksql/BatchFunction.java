package io.lifeline.ksql;

import io.confluent.ksql.function.udf.Udf;
import io.confluent.ksql.function.udf.UdfDescription;
import io.confluent.ksql.function.udf.UdfParameter;
import io.lifeline.codec.BatchReader;
import io.lifeline.codec.RejectedBatchException;
import java.nio.ByteBuffer;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;

/** The scalar function that returns a batch's header, or why the bytes are not a valid batch. */
@UdfDescription(
    name = "lifeline_batch",
    description = "Tells who sent a batch, its place in the sequence and its size, or why the bytes are no batch",
    category = Functions.CATEGORY,
    author = Functions.AUTHOR,
    version = Functions.VERSION)
public final class BatchFunction {

  static final String HEADER =
      "STRUCT<incarnation VARCHAR, route INT, sequence BIGINT, host VARCHAR, program VARCHAR, pid BIGINT, "
          + "events INT, bytes INT, final BOOLEAN, recovered BOOLEAN, error VARCHAR>";

  static final Schema SCHEMA =
      SchemaBuilder.struct()
          .optional()
          .field("INCARNATION", Schema.OPTIONAL_STRING_SCHEMA)
          .field("ROUTE", Schema.OPTIONAL_INT32_SCHEMA)
          .field("SEQUENCE", Schema.OPTIONAL_INT64_SCHEMA)
          .field("HOST", Schema.OPTIONAL_STRING_SCHEMA)
          .field("PROGRAM", Schema.OPTIONAL_STRING_SCHEMA)
          .field("PID", Schema.OPTIONAL_INT64_SCHEMA)
          .field("EVENTS", Schema.OPTIONAL_INT32_SCHEMA)
          .field("BYTES", Schema.OPTIONAL_INT32_SCHEMA)
          .field("FINAL", Schema.OPTIONAL_BOOLEAN_SCHEMA)
          .field("RECOVERED", Schema.OPTIONAL_BOOLEAN_SCHEMA)
          .field("ERROR", Schema.OPTIONAL_STRING_SCHEMA)
          .build();

  /**
   * Returns the header. For invalid bytes, only BYTES and ERROR (code and offset) are set.
   *
   * @param batch a message of lifeline.batches; null gives null
   */
  @Udf(description = "The header of a batch; error is null if it is a legal one", schema = HEADER)
  public Struct header(@UdfParameter(description = "a message of lifeline.batches") ByteBuffer batch) {
    if (batch == null) {
      return null;
    }
    byte[] bytes = Buffers.bytes(batch);
    Struct header = new Struct(SCHEMA).put("BYTES", bytes.length);
    try {
      BatchReader reader = new BatchReader().read(bytes, 0, bytes.length);
      return header
          .put("INCARNATION", reader.incarnation().toString())
          .put("ROUTE", reader.route())
          .put("SEQUENCE", reader.sequence())
          .put("HOST", reader.host())
          .put("PROGRAM", reader.program())
          .put("PID", reader.pid())
          .put("EVENTS", reader.eventCount())
          .put("FINAL", reader.isFinal())
          .put("RECOVERED", reader.isRecovered());
    } catch (RejectedBatchException e) {
      return header.put("ERROR", e.code() + " at offset " + e.offset());
    }
  }
}
