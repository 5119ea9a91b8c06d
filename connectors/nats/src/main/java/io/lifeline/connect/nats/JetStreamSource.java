package io.lifeline.connect.nats;

import io.lifeline.connect.common.Version;
import io.lifeline.connect.nats.RecordMapper.Content;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.Config;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.source.ConnectorTransactionBoundaries;
import org.apache.kafka.connect.source.ExactlyOnceSupport;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.util.ConnectorUtils;

/** Reads a JetStream stream into Kafka, each message once. */
public final class JetStreamSource extends SourceConnector {

  private static final String KEY_CONVERTER = "key.converter";
  private static final String BYTES_CONVERTER = "org.apache.kafka.connect.converters.ByteArrayConverter";

  private Map<String, String> properties;

  @Override
  public String version() {
    return Version.TEXT;
  }

  @Override
  public ConfigDef config() {
    return SourceConfig.DEF;
  }

  @Override
  public Class<? extends Task> taskClass() {
    return JetStreamSourceTask.class;
  }

  @Override
  public void start(Map<String, String> properties) {
    this.properties = properties;
  }

  @Override
  public void stop() {
    // Nothing runs here; tasks have their own connections.
  }

  @Override
  public List<Map<String, String>> taskConfigs(int maxTasks) {
    List<String> subjects = new SourceConfig(properties).subjects();
    List<Map<String, String>> configs = new ArrayList<>();
    for (List<String> group : ConnectorUtils.groupPartitions(subjects, Math.min(maxTasks, subjects.size()))) {
      Map<String, String> config = new HashMap<>(properties);
      config.put(SourceConfig.TASK_SUBJECTS, String.join(",", group));
      configs.add(config);
    }
    return configs;
  }

  /**
   * Besides the values themselves, that batches keep their keys, by which jobs know where they belong, and that the
   * stream can be reached. The worker's own converter is not among the properties.
   */
  @Override
  public Config validate(Map<String, String> properties) {
    Config config = super.validate(properties);
    String converter = properties.getOrDefault(KEY_CONVERTER, BYTES_CONVERTER);
    if (Content.BATCHES.text().equals(properties.get(SourceConfig.CONTENT))
        && !converter.equals(BYTES_CONVERTER)) {
      config.configValues().stream().filter(value -> value.name().equals(SourceConfig.CONTENT)).forEach(
          value -> value.addErrorMessage(
              "batches need " + KEY_CONVERTER + "=" + BYTES_CONVERTER + ", not " + converter));
    }
    if (config.configValues().stream().allMatch(value -> value.errorMessages().isEmpty())) {
      SourceConfig settings = new SourceConfig(properties);
      BrokerCheck.of(settings, config).stream(settings.stream(), settings.subjects());
    }
    return config;
  }

  /**
   * Always: the position is Connect's offset alone, which moves in one transaction with the records. The stream is read
   * without acknowledgements, so that the broker knows nothing that could disagree.
   */
  @Override
  public ExactlyOnceSupport exactlyOnceSupport(Map<String, String> properties) {
    return ExactlyOnceSupport.SUPPORTED;
  }

  /** No place between two messages is better than another: the worker chooses, by poll or by interval. */
  @Override
  public ConnectorTransactionBoundaries canDefineTransactionBoundaries(Map<String, String> properties) {
    return ConnectorTransactionBoundaries.UNSUPPORTED;
  }

  /** Nothing to do elsewhere; what is no offset of this connector is refused before it is stored. */
  @Override
  public boolean alterOffsets(Map<String, String> properties, Map<Map<String, ?>, Map<String, ?>> offsets) {
    offsets.forEach(
        (partition, offset) -> {
          if (offset != null) {
            SourcePosition.check(partition);
            SourcePosition.sequence(offset);
          }
        });
    return true;
  }
}
