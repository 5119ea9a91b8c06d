package io.lifeline.connect.nats;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.connect.testing.ConnectCluster;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import io.nats.client.Message;
import io.nats.client.api.OrderedConsumerConfiguration;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("system")
class NatsSinkTest {

  private static final Duration ENOUGH = Duration.ofSeconds(150);

  private static NatsServer server;
  private static ConnectCluster cluster;
  private static KafkaProducer<byte[], byte[]> producer;

  @BeforeAll
  static void start() throws Exception {
    server = NatsServer.shared();
    cluster = ConnectCluster.shared();
    producer =
        new KafkaProducer<>(
            Map.of(
                "bootstrap.servers", cluster.bootstrapServers(),
                "max.request.size", "2000000",
                "compression.type", "gzip"),
            new ByteArraySerializer(),
            new ByteArraySerializer());
  }

  @AfterAll
  static void stop() throws Exception {
    producer.close();
  }

  @Test
  void everyRecordIsStoredOnceThroughACrashOfTheBrokerAndARestartOfTheTaskAndOneByOneInOrder() throws Exception {
    try (Connection connection = server.connect()) {
      Numbers.createStream(connection, "NUMBERS", "numbers.>");
      Numbers.createStream(connection, "ORDERED", "ordered.>");
      cluster.connect().kafka().createTopic("numbers", 1);
      cluster.connect().configureConnector("numbers", sink("numbers", Map.of("nats.subject", "${topic}.${partition}")));
      Map<String, String> oneByOne = Map.of("nats.subject", "ordered.${partition}", "nats.max.in.flight", "1");
      cluster.connect().configureConnector("ordered", sink("numbers", oneByOne));
      send("numbers", 0, 2_000);
      await(connection, "NUMBERS", 1_000);
      server.kill();
      send("numbers", 2_000, 4_000);
      server.start();
      await(connection, "NUMBERS", 3_000);
      cluster.connect().restartConnectorAndTasks("numbers", false, true, false);
      cluster.connect().restartConnectorAndTasks("ordered", false, true, false);
      send("numbers", 4_000, 6_000);

      List<Integer> all = IntStream.range(0, 6_000).boxed().toList();
      await(connection, "NUMBERS", 6_000);
      assertThat(numbers(connection, "NUMBERS", "numbers.0")).as("wrong books: numbers")
          .containsExactlyInAnyOrderElementsOf(all);
      await(connection, "ORDERED", 6_000);
      assertThat(numbers(connection, "ORDERED", "ordered.0")).as("wrong books: numbers")
          .isEqualTo(all);
    } finally {
      cluster.connect().deleteConnector("numbers");
      cluster.connect().deleteConnector("ordered");
    }
  }

  /** The worker waits five seconds for a task to stop, and a task ten for the broker to answer. */
  @Test
  void aTaskThatTheWorkerGaveUpOnDoesNotHinderTheNext() throws Exception {
    try (Connection connection = server.connect()) {
      Numbers.createStream(connection, "MUTE", "mute.>");
      cluster.connect().kafka().createTopic("mute", 1);
      Map<String, String> settings = Map.of("nats.subject", "mute.${partition}", "nats.max.in.flight", "1");
      cluster.connect().configureConnector("mute", sink("mute", settings));
      send("mute", 0, 100);
      await(connection, "MUTE", 100);
      server.pause();
      send("mute", 100, 200);
      cluster.connect().restartConnectorAndTasks("mute", false, true, false);
      long deadline = System.nanoTime() + ENOUGH.toNanos();
      while (tasks("mute") < 2 && System.nanoTime() < deadline) {
        Thread.sleep(10);
      }
      assertThat(tasks("mute")).as("the next has started, and the first has not ended").isEqualTo(2);
      server.resume();

      await(connection, "MUTE", 200);
      assertThat(numbers(connection, "MUTE", "mute.0")).as("wrong books: numbers")
          .isEqualTo(IntStream.range(0, 200).boxed().toList());
    } finally {
      server.resume();
      cluster.connect().deleteConnector("mute");
    }
  }

  private static long tasks(String connector) {
    String thread = "task-thread-" + connector + "-0";
    return Thread.getAllStackTraces().keySet().stream().filter(running -> running.getName().equals(thread)).count();
  }

  private static List<Integer> numbers(Connection connection, String stream, String subject) throws Exception {
    List<Integer> numbers = new ArrayList<>();
    for (Message message : messages(connection, stream)) {
      assertThat(message.getSubject()).isEqualTo(subject);
      numbers.add(Integer.parseInt(text(message.getData())));
    }
    return numbers;
  }

  @Test
  void aRecordThatCannotBecomeAMessageGoesToTheDeadLettersAndTheOthersPass() throws Exception {
    try (Connection connection = server.connect()) {
      Numbers.createStream(connection, "KEYED", "keyed.>");
      cluster.connect().kafka().createTopic("keyed", 1);
      cluster.connect().kafka().createTopic("keyed-dead", 1);
      Map<String, String> settings =
          Map.of(
              "nats.subject", "keyed.${key}",
              "errors.tolerance", "all",
              "errors.deadletterqueue.topic.name", "keyed-dead",
              "errors.deadletterqueue.topic.replication.factor", "1",
              "errors.deadletterqueue.context.headers.enable", "true",
              "producer.override.max.request.size", "2000000",
              "producer.override.compression.type", "gzip");
      cluster.connect().configureConnector("keyed", sink("keyed", settings));
      producer.send(record("keyed", "one", "1"));
      producer.send(record("keyed", "no subject", "2"));
      producer.send(new ProducerRecord<>("keyed", bytes("big"), new byte[1_100_000]));
      ProducerRecord<byte[], byte[]> withHeaders = record("keyed", "three", "3");
      withHeaders.headers().add("colour", bytes("red")).add("colour", bytes("blue"));
      withHeaders.headers().add("Nats-Expected-Last-Sequence", bytes("99"));
      producer.send(withHeaders);

      await(connection, "KEYED", 2);
      List<Message> messages = messages(connection, "KEYED");
      assertThat(messages).extracting(Message::getSubject).containsExactly("keyed.one", "keyed.three");
      assertThat(messages.get(1).getHeaders().get("colour")).containsExactly("red", "blue");
      assertThat(messages.get(1).getHeaders().getFirst("Nats-Msg-Id")).isEqualTo("keyed-keyed-0-3");
      List<ConsumerRecord<byte[], byte[]>> dead = cluster.read("keyed-dead", 2, ENOUGH);
      assertThat(dead).extracting(letter -> text(letter.key())).containsExactly("no subject", "big");
      assertThat(text(dead.get(0).headers().lastHeader("__connect.errors.exception.message").value()))
          .isEqualTo("the record's topic and key do not make a subject of keyed.${key}");
    } finally {
      cluster.connect().deleteConnector("keyed");
    }
  }

  @Test
  void batchesBecomeTheMessagesThatAnEmitterPublishes() throws Exception {
    try (Connection connection = server.connect()) {
      Numbers.createStream(connection, "LIFELINE", "lifeline.batches.*");
      cluster.connect().kafka().createTopic("to-nats", 1);
      Map<String, String> settings = Map.of("content", "batches", "nats.subject", "lifeline.batches");
      cluster.connect().configureConnector("to-nats", sink("to-nats", settings));
      RecordHeaders headers = new RecordHeaders();
      headers.add("lifeline-host", bytes("host-a")).add("lifeline-program", bytes("test"));
      for (int i = 0; i < 2; i++) {
        producer.send(new ProducerRecord<>("to-nats", null, bytes("any"), Batches.batch(7), headers));
      }
      producer.send(new ProducerRecord<>("to-nats", null, bytes("any"), Batches.batch(8), headers));

      await(connection, "LIFELINE", 2);
      List<Message> messages = messages(connection, "LIFELINE");
      assertThat(messages).as("the repeat is absorbed").hasSize(2);
      Message message = messages.get(0);
      int number = BatchIdentity.of(Batches.batch(7)).subjectNumber();
      assertThat(message.getSubject()).isEqualTo("lifeline.batches." + number);
      assertThat(message.getData()).isEqualTo(Batches.batch(7));
      assertThat(message.getHeaders().getFirst("Nats-Msg-Id"))
          .isEqualTo(BatchIdentity.of(Batches.batch(7)).messageId());
      assertThat(message.getHeaders().getFirst("Lifeline-Host")).isEqualTo("host-a");
      assertThat(message.getHeaders().getFirst("Lifeline-Program")).isEqualTo("test");
    } finally {
      cluster.connect().deleteConnector("to-nats");
    }
  }

  private static void await(Connection connection, String stream, long count) throws Exception {
    long deadline = System.nanoTime() + ENOUGH.toNanos();
    while (count(connection, stream) < count && System.nanoTime() < deadline) {
      Thread.sleep(50);
    }
    assertThat(count(connection, stream)).isGreaterThanOrEqualTo(count);
  }

  private static long count(Connection connection, String stream) throws InterruptedException {
    try {
      return connection.jetStreamManagement().getStreamInfo(stream).getStreamState().getMsgCount();
    } catch (IOException | JetStreamApiException e) {
      return 0; // the broker is on its way back
    }
  }

  private static List<Message> messages(Connection connection, String stream) throws Exception {
    long count = count(connection, stream);
    List<Message> messages = new ArrayList<>();
    try (var reader =
        connection.getStreamContext(stream).createOrderedConsumer(new OrderedConsumerConfiguration()).iterate()) {
      while (messages.size() < count) {
        Message message = reader.nextMessage(ENOUGH);
        assertThat(message).as("the next message of " + stream).isNotNull();
        messages.add(message);
      }
    }
    return messages;
  }

  private static void send(String topic, int from, int to) {
    for (int i = from; i < to; i++) {
      producer.send(record(topic, "k", Integer.toString(i)));
    }
    producer.flush();
  }

  private static ProducerRecord<byte[], byte[]> record(String topic, String key, String value) {
    return new ProducerRecord<>(topic, bytes(key), bytes(value));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static Map<String, String> sink(String topic, Map<String, String> more) {
    Map<String, String> config = new HashMap<>();
    config.put("connector.class", NatsSink.class.getName());
    config.put("tasks.max", "1");
    config.put("topics", topic);
    config.put("nats.url", server.url());
    config.put("consumer.override.auto.offset.reset", "earliest");
    config.putAll(more);
    return config;
  }
}
