package io.lifeline.jobs.bench;

import io.lifeline.codec.Fnv1a;
import io.lifeline.codec.Incarnation;
import io.nats.client.Connection;
import io.nats.client.JetStream;
import io.nats.client.Nats;
import io.nats.client.api.PublishAck;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Publishes batches, spread over the broker's subjects or partitions by emitter. Closing it waits for all
 * acknowledgements.
 */
public interface BatchPublisher extends AutoCloseable {

  void publish(Incarnation emitter, byte[] batch) throws Exception;

  static BatchPublisher to(String url) throws Exception {
    return url.startsWith("kafka://") ? new ToKafka(url.substring("kafka://".length())) : new ToNats(url);
  }

  /** With as many messages in flight as a sink has. */
  final class ToNats implements BatchPublisher {
    private static final int SUBJECTS = 16;
    private static final int MAX_IN_FLIGHT = 200;

    private final Connection connection;
    private final JetStream stream;
    private final ArrayDeque<CompletableFuture<PublishAck>> inFlight = new ArrayDeque<>();

    ToNats(String url) throws Exception {
      connection = Nats.connect(url);
      stream = connection.jetStream();
    }

    @Override
    public void publish(Incarnation emitter, byte[] batch) throws Exception {
      inFlight.add(stream.publishAsync("lifeline.batches." + subject(emitter), batch));
      if (inFlight.size() > MAX_IN_FLIGHT) {
        inFlight.remove().get();
      }
    }

    private static long subject(Incarnation emitter) {
      byte[] bytes = ByteBuffer.allocate(16).putLong(emitter.high()).putLong(emitter.low()).array();
      return Long.remainderUnsigned(Fnv1a.hash(bytes), SUBJECTS);
    }

    @Override
    public void close() throws Exception {
      try (connection) {
        for (CompletableFuture<PublishAck> one : inFlight) {
          one.get();
        }
      }
    }
  }

  /** With the emitter as key, so that a partition has all of its batches. */
  final class ToKafka implements BatchPublisher {
    private final KafkaProducer<String, byte[]> producer;
    private final AtomicReference<Exception> failure = new AtomicReference<>();

    ToKafka(String servers) {
      producer = new KafkaProducer<>(Map.of("bootstrap.servers", servers), new StringSerializer(),
          new ByteArraySerializer());
    }

    @Override
    public void publish(Incarnation emitter, byte[] batch) {
      producer.send(new ProducerRecord<>("lifeline.batches", emitter.toString(), batch),
          (metadata, error) -> failure.compareAndSet(null, error));
    }

    @Override
    public void close() throws Exception {
      producer.close();
      if (failure.get() != null) {
        throw failure.get();
      }
    }
  }
}
