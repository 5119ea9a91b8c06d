package io.lifeline.connect.testing;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.connect.util.clusters.EmbeddedConnectCluster;

/**
 * One broker and Connect workers in this process, with exactly-once sources enabled. The embedded cluster is no public
 * API of Kafka, so only this class uses it.
 *
 * <p>It takes seconds to start: share it between tests.
 */
public final class ConnectCluster implements AutoCloseable {

  private static ConnectCluster shared;

  private final EmbeddedConnectCluster cluster;

  private ConnectCluster(EmbeddedConnectCluster cluster) {
    this.cluster = cluster;
  }

  /** Starts a cluster; the settings override the workers' defaults. */
  public static ConnectCluster start(int workers, Map<String, String> workerSettings) {
    Properties broker = new Properties();
    broker.put("transaction.state.log.replication.factor", "1");
    broker.put("transaction.state.log.min.isr", "1");
    broker.put("transaction.state.log.num.partitions", "1");
    broker.put("offsets.topic.num.partitions", "1");
    broker.put("group.initial.rebalance.delay.ms", "0");
    broker.put("auto.create.topics.enable", "false");

    Map<String, String> worker = new HashMap<>();
    worker.put("exactly.once.source.support", "enabled");
    worker.put("offset.flush.interval.ms", "500");
    worker.put("offset.storage.partitions", "1");
    worker.put("status.storage.partitions", "1");
    worker.put("plugin.discovery", "service_load"); // a scan of all classes takes seconds
    worker.put("key.converter", "org.apache.kafka.connect.converters.ByteArrayConverter");
    worker.put("value.converter", "org.apache.kafka.connect.converters.ByteArrayConverter");
    worker.put("header.converter", "org.apache.kafka.connect.storage.StringConverter");
    worker.putAll(workerSettings);

    EmbeddedConnectCluster cluster =
        new EmbeddedConnectCluster.Builder()
            .name("lifeline")
            .numBrokers(1)
            .numWorkers(workers)
            .brokerProps(broker)
            .workerProps(worker)
            .build();
    cluster.start();
    return new ConnectCluster(cluster);
  }

  /** Shared by all tests of this process. */
  public static synchronized ConnectCluster shared() {
    if (shared == null) {
      shared = start(1, Map.of());
      Runtime.getRuntime().addShutdownHook(new Thread(shared::close));
    }
    return shared;
  }

  /** Committed records of a topic; waits for the number of records or the timeout. */
  public List<ConsumerRecord<byte[], byte[]>> read(String topic, int count, Duration atMost) {
    return TopicReader.read(bootstrapServers(), topic, count, atMost);
  }

  /** Kafka's own helper: connectors, topics, REST. */
  public EmbeddedConnectCluster connect() {
    return cluster;
  }

  public String bootstrapServers() {
    return cluster.kafka().bootstrapServers();
  }

  @Override
  public void close() {
    cluster.stop();
  }
}
