package io.lifeline.connect.nats;

import io.lifeline.connect.common.Version;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.Config;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigValue;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.sink.SinkConnector;

/** Publishes records of Kafka to JetStream, each at least once, and once within the stream's duplicate window. */
public final class NatsSink extends SinkConnector {

  private static final String DEAD_LETTERS = "errors.deadletterqueue.topic.name";
  private static final String TOLERANCE = "errors.tolerance";

  private Map<String, String> properties;

  @Override
  public String version() {
    return Version.TEXT;
  }

  @Override
  public ConfigDef config() {
    return SinkConfig.DEF;
  }

  @Override
  public Class<? extends Task> taskClass() {
    return NatsSinkTask.class;
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
    return Collections.nCopies(maxTasks, properties);
  }

  /** Also validates that NATS is reachable and stores messages of the subject. */
  @Override
  public Config validate(Map<String, String> properties) {
    List<ConfigValue> values = new ArrayList<>(super.validate(properties).configValues());
    if (!properties.getOrDefault(DEAD_LETTERS, "").isBlank() && !"all".equals(properties.get(TOLERANCE))) {
      ConfigValue tolerance = new ConfigValue(TOLERANCE, properties.get(TOLERANCE), List.of("all"), new ArrayList<>());
      tolerance.addErrorMessage(
          "the dead letter queue is unused: the task fails at the first invalid record unless "
              + TOLERANCE + " is all");
      values.add(tolerance);
    }
    Config config = new Config(values);
    if (values.stream().allMatch(value -> value.errorMessages().isEmpty())) {
      SinkConfig settings = new SinkConfig(properties);
      BrokerCheck check = BrokerCheck.of(settings, config);
      if (settings.hasFixedSubject()) {
        check.subject(settings.subject());
      } else {
        check.reach();
      }
    }
    return config;
  }

  /** Offsets are stored in Kafka only. */
  @Override
  public boolean alterOffsets(Map<String, String> properties, Map<TopicPartition, Long> offsets) {
    return true;
  }
}
