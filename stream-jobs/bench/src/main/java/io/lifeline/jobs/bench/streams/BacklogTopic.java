package io.lifeline.jobs.bench.streams;

import io.lifeline.jobs.bench.Backlog;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** A new topic on Kafka, while it is filled with a {@link Backlog}. */
final class BacklogTopic implements AutoCloseable {

  private static final int PRODUCER_BATCH_BYTES = 64 << 10;

  private final String topic;
  private final int partitions;
  private final KafkaProducer<String, byte[]> producer;

  private BacklogTopic(String topic, int partitions, KafkaProducer<String, byte[]> producer) {
    this.topic = topic;
    this.partitions = partitions;
    this.producer = producer;
  }

  /** @param compression of Kafka's batches */
  static BacklogTopic create(String broker, String topic, int partitions, String compression) throws Exception {
    try (Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, broker))) {
      admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1))).all().get();
    }
    Map<String, Object> properties = new HashMap<>();
    properties.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, broker);
    properties.put(ProducerConfig.LINGER_MS_CONFIG, 50);
    properties.put(ProducerConfig.BATCH_SIZE_CONFIG, PRODUCER_BATCH_BYTES);
    properties.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, compression);
    return new BacklogTopic(
        topic, partitions, new KafkaProducer<>(properties, new StringSerializer(), new ByteArraySerializer()));
  }

  /** Sends the backlog in Lifeline's batches, which are compressed already. */
  static void fillWithBatches(String broker, String topic, int partitions, long events) throws Exception {
    try (BacklogTopic backlog = create(broker, topic, partitions, "none")) {
      Backlog.batches(events, (emitter, batch) -> backlog.send(emitter, null, batch));
    }
  }

  /**
   * Sends a message of an emitter. By the hashes of so few keys, one partition would have several times the events of
   * another.
   *
   * @param ms its time; null for that of sending
   */
  void send(int emitter, Long ms, byte[] value) {
    producer.send(new ProducerRecord<>(topic, emitter % partitions, ms, Backlog.key(emitter), value));
  }

  @Override
  public void close() {
    producer.close();
  }
}
