package io.lifeline.connect.batch;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigDef.ValidString;
import org.apache.kafka.common.config.ConfigDef.Width;
import org.apache.kafka.connect.storage.ConverterConfig;
import org.apache.kafka.connect.storage.ConverterType;

/** The settings of {@link BatchConverter}; in a connector's configuration they follow {@code value.converter.}. */
final class BatchConverterConfig extends ConverterConfig {

  static final String OUTPUT = "output";

  private static final String STRUCT = "struct";
  private static final String BYTES = "bytes";

  static final ConfigDef DEFINITION =
      newConfigDef()
          .define(
              OUTPUT,
              Type.STRING,
              STRUCT,
              ValidString.in(STRUCT, BYTES),
              Importance.MEDIUM,
              "What a sink connector is given. <code>struct</code>: the whole batch as Connect data."
                  + " <code>bytes</code>: the batch as it is, once it is known to be a legal one, for connectors that"
                  + " read batches themselves.",
              "Batches",
              1,
              Width.SHORT,
              "What a batch becomes");

  BatchConverterConfig(Map<String, ?> properties) {
    super(DEFINITION, withType(properties));
  }

  boolean isStruct() {
    return getString(OUTPUT).equals(STRUCT);
  }

  private static Map<String, Object> withType(Map<String, ?> properties) {
    Map<String, Object> all = new HashMap<>(properties);
    all.put(TYPE_CONFIG, ConverterType.VALUE.getName());
    return all;
  }
}
