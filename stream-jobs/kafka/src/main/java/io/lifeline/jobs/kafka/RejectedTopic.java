package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Rejection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
 * Publishes rejections when only the archive reads the batches; otherwise the stream jobs do. After a crash a rejection
 * may be published again, with the same key. Used by one thread.
 */
final class RejectedTopic implements AutoCloseable {

  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final int MAX_UNDER_WAY = 1_000;

  private final KafkaProducer<String, byte[]> producer;
  private final String prefix;
  private final List<Future<RecordMetadata>> underWay = new ArrayList<>();

  RejectedTopic(KafkaSettings settings, String prefix, ArchiveShare share) {
    this.producer = new KafkaProducer<>(settings.producer(settings.applicationId() + "-rejected-" + share.name()));
    this.prefix = prefix;
  }

  /** Sends asynchronously; {@link #await} confirms delivery. */
  void publish(Rejection rejection) {
    if (underWay.size() >= MAX_UNDER_WAY) {
      await();
    }
    rejection.send(
        (to, key, id, value) -> {
          ProducerRecord<String, byte[]> message = new ProducerRecord<>(to.topic(prefix), key, value);
          message.headers().add(IntakeProcessor.ID_HEADER, id.getBytes(StandardCharsets.UTF_8));
          underWay.add(producer.send(message));
        });
  }

  /** Waits until all messages are stored: the archive's end must not pass a message before its rejection is stored. */
  void await() {
    try {
      for (Future<RecordMetadata> sent : underWay) {
        await(sent);
      }
    } finally {
      underWay.clear(); // after a failure the messages are read and reported again
    }
  }

  private static void await(Future<RecordMetadata> sent) {
    try {
      sent.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw new KafkaException("a rejection cannot be written: " + e.getCause().getMessage(), e);
    } catch (TimeoutException e) {
      throw new KafkaException("a rejection was not written within " + TIMEOUT.toSeconds() + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptException(e);
    }
  }

  /** Waits for nothing: what is still under way belongs to messages that were not stored, and is reported again. */
  @Override
  public void close() {
    producer.close(Duration.ZERO);
  }
}
