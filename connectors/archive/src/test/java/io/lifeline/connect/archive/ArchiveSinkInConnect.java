package io.lifeline.connect.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.connect.testing.ConnectCluster;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.connect.runtime.AbstractStatus;
import org.apache.kafka.connect.runtime.rest.entities.ConnectorStateInfo.TaskState;
import org.apache.kafka.connect.runtime.rest.errors.ConnectRestException;
import org.apache.kafka.connect.util.clusters.EmbeddedConnectCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInfo;

/** A real Connect cluster, with a topic, a connector and an archive for each test. */
@Tag("system")
abstract class ArchiveSinkInConnect {

  static final int PARTITIONS = 3;
  static final Duration AT_MOST = Duration.ofSeconds(150);

  static EmbeddedConnectCluster connect;

  private static KafkaProducer<byte[], byte[]> producer;

  /** Of the topic and of the connector. */
  String name;

  @BeforeAll
  static void start() {
    connect = ConnectCluster.shared().connect();
    producer = connect.kafka().createProducer(Map.of());
  }

  @AfterAll
  static void stop() {
    producer.close();
  }

  @BeforeEach
  void makeTopic(TestInfo test) {
    name = test.getTestMethod().orElseThrow().getName();
    connect.kafka().createTopic(name, PARTITIONS);
  }

  /** The answer to the request does not wait for the tasks, which store what they hold when they end. */
  @AfterEach
  void deleteConnector() throws Exception {
    if (connect.connectors().contains(name)) {
      connect.deleteConnector(name);
    }
    await("the tasks to end", () -> Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
        .noneMatch(thread -> thread.startsWith("task-thread-" + name + "-")
            || thread.equals("lifeline-archive-maintenance")));
  }

  /** Where the archive of this test is. */
  abstract Map<String, String> place() throws Exception;

  /** How many events it holds. */
  abstract long events() throws Exception;

  Map<String, String> settings(String... more) throws Exception {
    Map<String, String> settings = new HashMap<>(place());
    settings.put("connector.class", ArchiveSink.class.getName());
    settings.put("topics", name);
    settings.put("tasks.max", "1");
    settings.put("archive.roll.interval.ms", "200");
    for (int i = 0; i < more.length; i += 2) {
      settings.put(more[i], more[i + 1]);
    }
    return settings;
  }

  void run(Map<String, String> settings) throws Exception {
    connect.configureConnector(name, settings);
    await("a task to start", this::hasTask);
  }

  /** A connector that was just made is not known at once. */
  private boolean hasTask() {
    try {
      return !connect.connectorStatus(name).tasks().isEmpty();
    } catch (ConnectRestException e) {
      return false;
    }
  }

  /** To each partition the batches of an emitter of its own. */
  void sendSerials(int first, int last) throws ExecutionException, InterruptedException {
    for (int sequence = first; sequence <= last; sequence++) {
      for (int partition = 0; partition < PARTITIONS; partition++) {
        producer.send(new ProducerRecord<>(name, partition, null, Batches.serials(partition + 1, sequence)));
      }
    }
    producer.flush();
  }

  void send(int partition, byte[] value) throws ExecutionException, InterruptedException {
    producer.send(new ProducerRecord<>(name, partition, null, value)).get();
  }

  void awaitEvents(long expected) throws Exception {
    await(expected + " events", () -> events() >= expected);
    assertThat(events()).as("wrong books: archived events").isEqualTo(expected);
  }

  TaskState failedTask() {
    return connect.connectorStatus(name).tasks().stream()
        .filter(task -> task.state().equals(AbstractStatus.State.FAILED.name()))
        .findAny()
        .orElse(null);
  }

  long metric(String metric) throws Exception {
    MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
    ObjectName plugins = new ObjectName("kafka.connect:type=plugins,connector=" + name + ",*");
    for (ObjectName bean : beans.queryNames(plugins, null)) {
      return ((Number) beans.getAttribute(bean, metric)).longValue();
    }
    return -1;
  }

  static String reason(ConsumerRecord<byte[], byte[]> rejected) {
    return new String(
        rejected.headers().lastHeader("__connect.errors.exception.message").value(), StandardCharsets.UTF_8);
  }

  static void await(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + AT_MOST.toNanos();
    while (!condition.call()) {
      assertThat(System.nanoTime()).as("waiting for " + what).isLessThan(deadline);
      Thread.sleep(200);
    }
  }
}
