package io.lifeline.connect.archive;

import io.lifeline.connect.common.Version;
import io.lifeline.jobs.archive.ArchiveWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.Config;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigValue;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.sink.SinkConnector;

/**
 * Archives the batches of one topic, each exactly once. The archive holds the position; the offsets of the connector's
 * consumer group follow it, to show the lag, and are never read.
 */
public final class ArchiveSink extends SinkConnector {

  private Map<String, String> properties;

  @Override
  public String version() {
    return Version.TEXT;
  }

  @Override
  public ConfigDef config() {
    return ArchiveSinkSettings.DEFINITION;
  }

  /** Also validates settings of the framework, and that the archive is available. */
  @Override
  public Config validate(Map<String, String> settings) {
    List<ConfigValue> values = new ArrayList<>(super.validate(settings).configValues());
    values.addAll(FrameworkSettings.unfit(settings));
    if (values.stream().allMatch(value -> value.errorMessages().isEmpty())) {
      ArchivePlace.test(new ArchiveSinkConfig(settings), values);
    }
    return new Config(values);
  }

  @Override
  public void start(Map<String, String> settings) {
    new ArchiveSinkConfig(settings).archive(); // fails here rather than in every task
    properties = settings;
  }

  @Override
  public Class<? extends Task> taskClass() {
    return ArchiveSinkTask.class;
  }

  /** All tasks have the same settings: the consumer group assigns the partitions. */
  @Override
  public List<Map<String, String>> taskConfigs(int maxTasks) {
    return Collections.nCopies(maxTasks, properties);
  }

  @Override
  public void stop() {
    // Tasks own all resources.
  }

  /**
   * Refuses offsets that the archive would not follow. Going back would change nothing, since what it holds is never
   * stored twice; going ahead would leave an unrecorded gap.
   */
  @Override
  public boolean alterOffsets(Map<String, String> settings, Map<TopicPartition, Long> offsets) {
    ArchiveSinkConfig config = new ArchiveSinkConfig(settings);
    try (ArchiveWriter archive = config.archive().open(rejection -> {})) {
      for (Map.Entry<TopicPartition, Long> wanted : offsets.entrySet()) {
        long next = archive.nextOffset(wanted.getKey().partition());
        long offset = wanted.getValue() == null ? 0 : wanted.getValue();
        if (offset != next) {
          throw new ConnectException(
              "the archive " + config.archive().name() + " goes on with offset " + next + " of " + wanted.getKey()
                  + ", whatever the connector's offsets say: to archive other offsets, give the connector an archive"
                  + " of its own");
        }
      }
      return true;
    } catch (IOException e) {
      throw new ConnectException("cannot read the end of the archive: " + e.getMessage(), e);
    }
  }
}
