package io.lifeline.connect.bench;

import io.nats.client.Connection;
import io.nats.client.ConsumeOptions;
import io.nats.client.IterableConsumer;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.api.DeliverPolicy;
import io.nats.client.api.OrderedConsumerConfiguration;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The same copy without Connect: the client's ordered consumer, a producer, and a transaction committed each second.
 * The records are identical: the subject is the key, the stream's time the timestamp.
 */
final class BareLoop {

  private static final long COMMIT_NS = Duration.ofSeconds(1).toNanos();
  private static final int READ_AHEAD_BYTES = 16 << 20;
  private static final int MOST_AHEAD = 20_000;

  private BareLoop() {}

  /** Copies the messages with the connector's read-ahead. */
  static void copy(
      String natsUrl,
      String stream,
      String bootstrapServers,
      Map<String, String> settings,
      String topic,
      int messages,
      int bytesEach)
      throws Exception {
    Map<String, Object> producerSettings = new HashMap<>(settings);
    producerSettings.put("bootstrap.servers", bootstrapServers);
    producerSettings.put("acks", "all");
    producerSettings.put("transactional.id", "bare-loop");
    try (Connection connection = Nats.connect(natsUrl);
        KafkaProducer<byte[], byte[]> producer =
            new KafkaProducer<>(producerSettings, new ByteArraySerializer(), new ByteArraySerializer());
        IterableConsumer consumer = consumer(connection, stream, Math.min(MOST_AHEAD, READ_AHEAD_BYTES / bytesEach))) {
      producer.initTransactions();
      producer.beginTransaction();
      long begun = System.nanoTime();
      for (int i = 0; i < messages; i++) {
        Message message = consumer.nextMessage(Duration.ofSeconds(30));
        long timeMs = message.metaData().timestamp().toInstant().toEpochMilli();
        byte[] key = message.getSubject().getBytes(StandardCharsets.UTF_8);
        producer.send(new ProducerRecord<>(topic, null, timeMs, key, message.getData()));
        if (System.nanoTime() - begun > COMMIT_NS) {
          producer.commitTransaction();
          producer.beginTransaction();
          begun = System.nanoTime();
        }
      }
      producer.commitTransaction();
    }
  }

  private static IterableConsumer consumer(Connection connection, String stream, int ahead) throws Exception {
    return connection
        .getStreamContext(stream)
        .createOrderedConsumer(new OrderedConsumerConfiguration().deliverPolicy(DeliverPolicy.All))
        .iterate(ConsumeOptions.builder().batchSize(ahead).build());
  }
}
