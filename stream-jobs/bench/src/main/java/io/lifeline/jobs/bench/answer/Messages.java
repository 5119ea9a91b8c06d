package io.lifeline.jobs.bench.answer;

import io.lifeline.jobs.core.Destination;
import io.nats.client.Connection;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.Subscription;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** What jobs publish from now on, as a subscriber of either broker gets it. */
abstract class Messages implements AnswerBench.Watch {
  private static final String PREFIX = "lifeline";
  private static final Duration WAIT = Duration.ofMillis(100);

  /** Notes the events that a message answers. */
  interface Meaning {
    void note(byte[] message, Seen seen) throws IOException;
  }

  /** Subscribes at once. */
  static Messages of(String url, Destination source, Meaning meaning) {
    String topic = source.topic(PREFIX);
    return url.startsWith("kafka://")
        ? new OfKafka(url.substring("kafka://".length()), topic, meaning)
        : new OfNats(url, topic, meaning);
  }

  private static final class OfNats extends Messages {
    private final Connection connection;
    private final List<Subscription> subscriptions;
    private final Meaning meaning;

    OfNats(String url, String topic, Meaning meaning) {
      this.meaning = meaning;
      try {
        connection = Nats.connect(url);
        // A derived stream has a subject per group of emitters.
        subscriptions = List.of(connection.subscribe(topic), connection.subscribe(topic + ".*"));
        connection.flush(Duration.ofSeconds(10));
      } catch (Exception e) {
        throw new IllegalStateException("cannot subscribe to " + topic + ": " + e.getMessage(), e);
      }
    }

    @Override
    public void poll(Seen seen) throws IOException, InterruptedException {
      for (Subscription subscription : subscriptions) {
        Message message = subscription.nextMessage(WAIT.dividedBy(subscriptions.size() * 10L));
        while (message != null) {
          meaning.note(message.getData(), seen);
          message = subscription.nextMessage(Duration.ofMillis(1));
        }
      }
    }

    @Override
    public void close() throws InterruptedException {
      connection.close();
    }
  }

  private static final class OfKafka extends Messages {
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final Meaning meaning;

    OfKafka(String servers, String topic, Meaning meaning) {
      this.meaning = meaning;
      consumer = new KafkaConsumer<>(Map.of("bootstrap.servers", servers, "isolation.level", "read_committed"),
          new ByteArrayDeserializer(), new ByteArrayDeserializer());
      List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
          .map(partition -> new TopicPartition(partition.topic(), partition.partition())).toList();
      consumer.assign(partitions);
      consumer.seekToEnd(partitions);
      partitions.forEach(consumer::position); // seeking is lazy
    }

    @Override
    public void poll(Seen seen) throws IOException {
      for (ConsumerRecord<byte[], byte[]> message : consumer.poll(WAIT)) {
        meaning.note(message.value(), seen);
      }
    }

    @Override
    public void close() {
      consumer.close();
    }
  }
}
