package io.lifeline.connect.nats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.connect.testing.ConnectCluster;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.impl.Headers;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import javax.management.ObjectName;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.connect.runtime.rest.errors.ConnectRestException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("system")
class JetStreamSourceTest {

  private static final Duration ENOUGH = Duration.ofSeconds(150);

  private static NatsServer server;
  private static ConnectCluster cluster;

  @BeforeAll
  static void start() throws Exception {
    server = NatsServer.shared();
    cluster = ConnectCluster.shared();
  }

  @Test
  void everyMessageArrivesOnceAndInOrderThroughRestartsOfTasksAndACrashOfTheBroker() throws Exception {
    try (Connection connection = server.connect()) {
      Numbers.createStream(connection, "ORDERS", "orders.>");
      cluster.connect().kafka().createTopic("orders", 3);
      Map<String, String> settings =
          Map.of("nats.subjects", "orders.a.*,orders.b", "kafka.topic", "orders", "tasks.max", "2");
      cluster.connect().configureConnector("orders", source("ORDERS", settings));
      cluster.connect().assertions().assertConnectorAndExactlyNumTasksAreRunning("orders", 2, "one for each subject");
      Numbers.publish(connection, "orders.a.x", 0, 3_000);
      Numbers.publish(connection, "orders.b", 0, 3_000);
      cluster.connect().restartConnectorAndTasks("orders", false, true, false);
      Numbers.publish(connection, "orders.a.x", 3_000, 6_000);
      server.kill();
      cluster.connect().restartConnectorAndTasks("orders", false, true, false);
      server.start();
      Numbers.publish(connection, "orders.b", 3_000, 6_000);
      Numbers.publish(connection, "orders.a.x", 6_000, 9_000);
      Numbers.publish(connection, "orders.b", 6_000, 9_000);

      List<ConsumerRecord<byte[], byte[]>> records = cluster.read("orders", 18_000, ENOUGH);
      List<Integer> all = IntStream.range(0, 9_000).boxed().toList();
      assertThat(Numbers.of(records, "orders.a.x")).as("wrong books: numbers").isEqualTo(all);
      assertThat(Numbers.of(records, "orders.b")).as("wrong books: numbers").isEqualTo(all);
      assertThat(metric("orders", "lag", ",filter=orders.b")).isZero();
      assertThat(metric("orders", "connections-total", "")).isPositive();
    } finally {
      cluster.connect().deleteConnector("orders");
    }
  }

  @Test
  void aRecordHasTheMessagesBytesHeadersAndTime() throws Exception {
    try (Connection connection = server.connect()) {
      Numbers.createStream(connection, "THINGS", "things.*");
      Headers headers = new Headers().add("colour", "red").add("colour", "blue").add("account", "17");
      byte[] body = {0, (byte) 0xff, 10, 13};
      connection.jetStream().publish("things.one", headers, body);
      cluster.connect().kafka().createTopic("THINGS.things.one", 1);
      Map<String, String> settings =
          Map.of("kafka.topic", "${stream}.${subject}", "kafka.key", "header:account", "kafka.headers", "all");
      cluster.connect().configureConnector("things", source("THINGS", settings));

      ConsumerRecord<byte[], byte[]> record = cluster.read("THINGS.things.one", 1, ENOUGH).get(0);
      assertThat(record.value()).isEqualTo(body);
      assertThat(record.key()).isEqualTo("17".getBytes(StandardCharsets.UTF_8));
      var stored = connection.jetStreamManagement().getMessage("THINGS", 1);
      assertThat(record.timestamp()).isEqualTo(stored.getTime().toInstant().toEpochMilli());
      assertThat(headersOf(record))
          .contains("colour=red", "colour=blue", "account=17", "nats.stream=THINGS", "nats.subject=things.one")
          .contains("nats.sequence=1")
          .filteredOn(header -> header.startsWith("nats.time="))
          .hasSize(1);
    } finally {
      cluster.connect().deleteConnector("things");
    }
  }

  @Test
  void batchesBecomeTheRecordsThatAnEmitterWrites() throws Exception {
    try (Connection connection = server.connect()) {
      Numbers.createStream(connection, "LIFELINE", "lifeline.batches.*");
      byte[] batch = Batches.batch(7);
      Headers headers = new Headers().add("Lifeline-Host", "host-a").add("Lifeline-Program", "test");
      headers.add("Nats-Msg-Id", "00000000000000010000000000000002-0-7");
      connection.jetStream().publish("lifeline.batches.3", headers, batch);
      cluster.connect().kafka().createTopic("lifeline.batches", 1);
      Map<String, String> settings = Map.of("content", "batches", "kafka.topic", "lifeline.batches");
      cluster.connect().configureConnector("batches", source("LIFELINE", settings));

      ConsumerRecord<byte[], byte[]> record = cluster.read("lifeline.batches", 1, ENOUGH).get(0);
      assertThat(record.value()).isEqualTo(batch);
      assertThat(new String(record.key(), StandardCharsets.UTF_8)).isEqualTo("00000000000000010000000000000002");
      assertThat(headersOf(record)).containsExactly("lifeline-host=host-a", "lifeline-program=test");
    } finally {
      cluster.connect().deleteConnector("batches");
    }
  }

  @Test
  void readsAgainFromAnOffsetThatAUserSets() throws Exception {
    try (Connection connection = server.connect()) {
      Numbers.createStream(connection, "AGAIN", "again");
      Numbers.publish(connection, "again", 0, 10);
      cluster.connect().kafka().createTopic("AGAIN", 1);
      cluster.connect().configureConnector("again", source("AGAIN", Map.of()));
      cluster.read("AGAIN", 10, ENOUGH);

      cluster.connect().stopConnector("again");
      cluster.connect().assertions().assertConnectorIsStopped("again", "stopped");
      Map<String, String> partition = Map.of("stream", "AGAIN", "filter", ">");
      assertThatThrownBy(() -> cluster.connect().alterSourceConnectorOffset("again", partition, Map.of("seq", 7)))
          .isInstanceOf(ConnectRestException.class)
          .hasMessageContaining("an offset of this connector is {\\\"sequence\\\": N}");
      assertThatThrownBy(
              () -> cluster.connect().alterSourceConnectorOffset("again", Map.of("stream", 1), Map.of("sequence", 7)))
          .isInstanceOf(ConnectRestException.class)
          .hasMessageContaining("a partition of this connector is");
      cluster.connect().alterSourceConnectorOffset("again", partition, Map.of("sequence", 7));
      cluster.connect().resumeConnector("again");

      assertThat(Numbers.of(cluster.read("AGAIN", 13, ENOUGH), "again"))
          .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 7, 8, 9);
    } finally {
      cluster.connect().deleteConnector("again");
    }
  }

  @Test
  void aStreamThatWasMadeAnewIsNoticed() throws Exception {
    try (Connection connection = server.connect()) {
      Numbers.createStream(connection, "ANEW", "anew");
      Numbers.publish(connection, "anew", 0, 10);
      cluster.connect().kafka().createTopic("ANEW", 1);
      cluster.connect().configureConnector("anew", source("ANEW", Map.of()));
      cluster.read("ANEW", 10, ENOUGH);
      connection.jetStreamManagement().deleteStream("ANEW");
      Numbers.createStream(connection, "ANEW", "anew");
      cluster.connect().restartConnectorAndTasks("anew", false, true, false);

      cluster.connect().assertions().assertConnectorIsRunningAndTasksHaveFailed("anew", 1, "the position is unknown");
      assertThat(cluster.connect().connectorStatus("anew").tasks().get(0).trace())
          .contains("lies beyond the end of stream ANEW (0): the stream was recreated");
    } finally {
      cluster.connect().deleteConnector("anew");
    }
  }

  private static List<String> headersOf(ConsumerRecord<byte[], byte[]> record) {
    List<String> headers = new ArrayList<>();
    for (Header header : record.headers()) {
      headers.add(header.key() + "=" + new String(header.value(), StandardCharsets.UTF_8));
    }
    return headers;
  }

  /** A figure of one of the connector's tasks, as monitoring sees it. */
  private static long metric(String connector, String name, String tags) throws Exception {
    var beans = ManagementFactory.getPlatformMBeanServer();
    ObjectName pattern = new ObjectName("kafka.connect:type=plugins,connector=" + connector + tags + ",*");
    for (ObjectName bean : beans.queryNames(pattern, null)) {
      if (List.of(beans.getMBeanInfo(bean).getAttributes()).stream().anyMatch(a -> a.getName().equals(name))) {
        return ((Number) beans.getAttribute(bean, name)).longValue();
      }
    }
    throw new AssertionError("no metric " + name + " of " + pattern);
  }

  private static Map<String, String> source(String stream, Map<String, String> more) {
    Map<String, String> config = new HashMap<>();
    config.put("connector.class", JetStreamSource.class.getName());
    config.put("tasks.max", "1");
    config.put("nats.url", server.url());
    config.put("nats.stream", stream);
    config.put("transaction.boundary", "interval");
    config.put("transaction.boundary.interval.ms", "100");
    config.putAll(more);
    return config;
  }
}
