package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Rejection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;

/**
 * Tells of rejected messages where only the archive reads them; otherwise the stream jobs do. After a crash a message
 * may be told of again, under the same key.
 */
final class RejectedTopic implements AutoCloseable {

  private static final Duration TIMEOUT = Duration.ofSeconds(10);

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
          await(producer.send(message), message.topic());
        });
  }

  /** The archive's end must not pass a message before it is told of. */
  private static void await(Future<RecordMetadata> sent, String topic) {
    try {
      sent.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new KafkaException("a rejection cannot be written to " + topic + ": " + e.getCause().getMessage(), e);
    } catch (TimeoutException e) {
      throw new KafkaException("a rejection was not written to " + topic + " within " + TIMEOUT.toSeconds() + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptException(e);
    }
  }

  @Override
  public void close() {
    producer.close(TIMEOUT);
  }
}
