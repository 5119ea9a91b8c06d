package io.lifeline.connect.batch;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.connect.common.Version;
import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.storage.Converter;

/**
 * Converts batches for connectors that cannot decode them: a record's bytes become a struct of {@link BatchSchema}, and
 * vice versa. Invalid bytes are a {@link DataException} with code and offset, so {@code errors.tolerance} and a dead
 * letter queue apply.
 *
 * <p>A batch stays one record. To get a record per event, put a stream job before the connector.
 */
public final class BatchConverter implements Converter {

  private final BatchReader reader = new BatchReader();
  private boolean struct;

  @Override
  public ConfigDef config() {
    return BatchConverterConfig.DEFINITION;
  }

  @Override
  public String version() {
    return Version.TEXT;
  }

  @Override
  public void configure(Map<String, ?> configs, boolean isKey) {
    if (isKey) {
      throw new ConfigException("BatchConverter reads values: a batch's key is text, so use StringConverter for it");
    }
    struct = new BatchConverterConfig(configs).isStruct();
  }

  /** Null (a tombstone) stays null. */
  @Override
  public SchemaAndValue toConnectData(String topic, byte[] value) {
    if (value == null) {
      return SchemaAndValue.NULL;
    }
    check(value);
    return struct
        ? new SchemaAndValue(BatchSchema.BATCH, BatchToStruct.struct(reader))
        : new SchemaAndValue(Schema.OPTIONAL_BYTES_SCHEMA, value);
  }

  /** Takes a struct of {@link BatchSchema}, and bytes, which must be a batch already and stay as they are. */
  @Override
  public byte[] fromConnectData(String topic, Schema schema, Object value) {
    if (value == null) {
      return null;
    }
    if (value instanceof Struct batch && BatchSchema.NAME.equals(batch.schema().name())) {
      return encode(batch);
    }
    byte[] bytes = bytes(value);
    check(bytes);
    return bytes;
  }

  private static byte[] encode(Struct batch) {
    try {
      return StructToBatch.batch(batch);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new DataException("this struct is no batch: " + e.getMessage());
    }
  }

  private static byte[] bytes(Object value) {
    if (value instanceof byte[] bytes) {
      return bytes;
    }
    if (value instanceof ByteBuffer buffer) {
      byte[] copy = new byte[buffer.remaining()];
      buffer.duplicate().get(copy);
      return copy;
    }
    throw new DataException(
        "BatchConverter writes " + BatchSchema.NAME + " and bytes, not " + value.getClass().getSimpleName());
  }

  private void check(byte[] value) {
    try {
      reader.read(value, 0, value.length);
    } catch (RejectedBatchException e) {
      throw new DataException("this is no batch: " + e);
    }
  }
}
