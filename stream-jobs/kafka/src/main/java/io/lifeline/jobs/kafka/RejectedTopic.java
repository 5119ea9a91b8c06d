package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Rejection;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Tells of rejected messages where only the archive reads them; otherwise the stream jobs do. After a crash a message
 * may be told of again, under the same key.
 */
final class RejectedTopic implements AutoCloseable {

  private final KafkaProducer<String, byte[]> producer;
  private final String prefix;

  RejectedTopic(KafkaSettings settings, String prefix) {
    this.producer = new KafkaProducer<>(settings.producer(settings.applicationId() + "-rejected"));
    this.prefix = prefix;
  }

  void publish(Rejection rejection) {
    rejection.send(
        (to, key, id, value) -> {
          ProducerRecord<String, byte[]> message = new ProducerRecord<>(to.topic(prefix), key, value);
          message.headers().add(IntakeProcessor.ID_HEADER, id.getBytes(StandardCharsets.UTF_8));
          producer.send(message);
        });
  }

  @Override
  public void close() {
    producer.close();
  }
}
