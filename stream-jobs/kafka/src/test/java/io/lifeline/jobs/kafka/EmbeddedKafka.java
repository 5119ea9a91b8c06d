package io.lifeline.jobs.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.test.KafkaClusterTestKit;
import org.apache.kafka.common.test.TestKitNodes;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * A real broker in this process, shared by all its tests: each test uses topics of its own. The Kafka test kit is no
 * public API, so only this class uses it.
 */
final class EmbeddedKafka implements AutoCloseable {

  /** Starts the broker for the first test class that needs it; it stops after the last test of the process. */
  static final class Shared implements ParameterResolver {
    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getParameter().getType() == EmbeddedKafka.class;
    }

    @Override
    public EmbeddedKafka resolveParameter(ParameterContext parameter, ExtensionContext context) {
      return context.getRoot().getStore(Namespace.GLOBAL).computeIfAbsent(EmbeddedKafka.class);
    }
  }

  private final KafkaClusterTestKit cluster;
  private final Admin admin;
  private final KafkaProducer<String, byte[]> producer;

  EmbeddedKafka() throws Exception {
    TestKitNodes nodes =
        new TestKitNodes.Builder().setCombined(true).setNumControllerNodes(1).setNumBrokerNodes(1).build();
    cluster =
        new KafkaClusterTestKit.Builder(nodes)
            .setConfigProp("offsets.topic.replication.factor", "1")
            .setConfigProp("offsets.topic.num.partitions", "1")
            .setConfigProp("transaction.state.log.replication.factor", "1")
            .setConfigProp("transaction.state.log.min.isr", "1")
            .setConfigProp("transaction.state.log.num.partitions", "1")
            .setConfigProp("group.initial.rebalance.delay.ms", "0")
            .setConfigProp("group.min.session.timeout.ms", "1000")
            .setConfigProp("transaction.abort.timed.out.transaction.cleanup.interval.ms", "500")
            .setConfigProp("auto.create.topics.enable", "false")
            .build();
    cluster.format();
    cluster.startup();
    cluster.waitForReadyBrokers();
    admin = cluster.admin();
    // One request at a time: if a new partition temporarily refuses the first batch, the second would overtake it.
    producer =
        new KafkaProducer<>(
            Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, cluster.bootstrapServers(),
                ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1),
            new StringSerializer(),
            new ByteArraySerializer());
  }

  String url() {
    return "kafka://" + cluster.bootstrapServers();
  }

  void createTopics(int partitions, String... names) throws ExecutionException, InterruptedException {
    List<NewTopic> topics = new ArrayList<>();
    for (String name : names) {
      topics.add(new NewTopic(name, partitions, (short) 1));
    }
    admin.createTopics(topics).all().get();
    while (!topics().containsAll(List.of(names))) {
      Thread.sleep(20);
    }
  }

  void deleteTopic(String name) throws ExecutionException, InterruptedException {
    admin.deleteTopics(List.of(name)).all().get();
    while (topics().contains(name)) {
      Thread.sleep(20);
    }
  }

  List<String> topics() throws ExecutionException, InterruptedException {
    return List.copyOf(admin.listTopics().names().get());
  }

  void raisePartitions(String topic, int partitions) throws ExecutionException, InterruptedException {
    admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(partitions))).all().get();
  }

  int partitions(String topic) throws ExecutionException, InterruptedException {
    return admin.describeTopics(List.of(topic)).topicNameValues().get(topic).get().partitions().size();
  }

  void send(String topic, String key, byte[] value) throws ExecutionException, InterruptedException {
    producer.send(new ProducerRecord<>(topic, key, value)).get();
  }

  /** Sends all records, each to its partition and with its timestamp; returns when the broker has stored them. */
  void send(List<ProducerRecord<String, byte[]>> messages) throws ExecutionException, InterruptedException {
    List<Future<RecordMetadata>> sent = messages.stream().map(producer::send).toList();
    for (Future<RecordMetadata> message : sent) {
      message.get();
    }
  }

  /** Waits until a group's committed offsets are the ends of a topic. */
  void awaitEndReached(String group, String topic) throws ExecutionException, InterruptedException {
    Map<TopicPartition, Long> ends;
    try (KafkaConsumer<String, String> consumer = consumer(topic)) {
      ends = consumer.endOffsets(consumer.assignment());
    }
    while (!committed(group).entrySet().containsAll(ends.entrySet())) {
      Thread.sleep(20);
    }
  }

  private Map<TopicPartition, Long> committed(String group) throws ExecutionException, InterruptedException {
    Map<TopicPartition, Long> offsets = new HashMap<>();
    admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get()
        .forEach((partition, offset) -> offsets.put(partition, offset == null ? -1 : offset.offset()));
    return offsets;
  }

  /** Returns the committed records of a topic; waits for that many records or until the timeout. */
  List<ConsumerRecord<String, String>> read(String topic, int count, Duration atMost)
      throws ExecutionException, InterruptedException {
    long deadline = System.nanoTime() + atMost.toNanos();
    while (!topics().contains(topic) && System.nanoTime() < deadline) {
      Thread.sleep(20);
    }
    List<ConsumerRecord<String, String>> read = new ArrayList<>();
    try (KafkaConsumer<String, String> consumer = consumer(topic)) {
      while (read.size() < count && System.nanoTime() < deadline) {
        consumer.poll(Duration.ofMillis(100)).forEach(read::add);
      }
    }
    return read;
  }

  /** Returns all records committed to a topic so far. */
  List<ConsumerRecord<String, String>> readAll(String topic) {
    List<ConsumerRecord<String, String>> read = new ArrayList<>();
    try (KafkaConsumer<String, String> consumer = consumer(topic)) {
      Map<TopicPartition, Long> ends = consumer.endOffsets(consumer.assignment());
      while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
        consumer.poll(Duration.ofMillis(100)).forEach(read::add);
      }
    }
    return read;
  }

  /** Returns a consumer at the beginning of a topic. */
  private KafkaConsumer<String, String> consumer(String topic) {
    Map<String, Object> properties =
        Map.of(
            ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, cluster.bootstrapServers(),
            ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    KafkaConsumer<String, String> consumer =
        new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer());
    List<TopicPartition> partitions =
        consumer.partitionsFor(topic).stream().map(p -> new TopicPartition(topic, p.partition())).toList();
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
    return consumer;
  }

  @Override
  public void close() throws Exception {
    producer.close();
    admin.close();
    cluster.close();
  }
}
