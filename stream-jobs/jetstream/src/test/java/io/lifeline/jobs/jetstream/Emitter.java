package io.lifeline.jobs.jetstream;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import java.io.IOException;

/** Publishes batches as an emitter does: event {@code i} is at second {@code i / 10} and has the value {@code i}. */
final class Emitter {

  static final long START_NS = 1_700_000_000L * 1_000_000_000;
  static final EventType READ =
      EventType.named("disk.read.end").field("id", FieldType.U64).field("nbytes", FieldType.U64, "B").build();

  private static final int EVENTS_PER_BATCH = 10;

  private final Incarnation incarnation;
  private final String subject;
  private long sequence;
  private long events;

  Emitter(int number) {
    this(new Incarnation(number, number));
  }

  Emitter(Incarnation incarnation) {
    this.incarnation = incarnation;
    this.subject = "lifeline.batches." + NatsSettings.subject(incarnation);
  }

  long events() {
    return events;
  }

  /** The next batch; its ten events span one second. */
  byte[] nextBatch(boolean isFinal) {
    long second = START_NS + sequence * 1_000_000_000;
    BatchWriter writer =
        new BatchWriter()
            .incarnation(incarnation)
            .sequence(++sequence)
            .host("host-a")
            .program("test")
            .pid(42)
            .finalBatch(isFinal)
            .ticks(second, 1_000_000_000, true)
            .type(1, READ)
            .thread(7);
    for (int i = 0; i < EVENTS_PER_BATCH; i++) {
      writer.event(READ, second + i * 100_000_000L, events, events);
      events++;
    }
    return writer.counter(Counter.EMITTED, events).toByteArray();
  }

  /** The next batch: ten operations of a megabyte within a second, of which each takes about that long. */
  byte[] operations(String name, double milliseconds) {
    EventType start = EventType.named(name + ".start").field("id", FieldType.U64).build();
    EventType end =
        EventType.named(name + ".end").field("id", FieldType.U64).field("nbytes", FieldType.U64, "B").build();
    long second = START_NS + sequence * 1_000_000_000;
    BatchWriter writer =
        new BatchWriter()
            .incarnation(incarnation)
            .sequence(++sequence)
            .host("host-a")
            .program("test")
            .ticks(second, 1_000_000_000, true)
            .thread(7);
    for (long id = 0; id < 10; id++) {
      double took = milliseconds * 1e6 * (1 + (id * 7 + sequence * 3) % 10 / 20.0);
      long startNs = second + id * 100_000_000L;
      writer.event(start, startNs, id).event(end, startNs + (long) took, id, 1_000_000L);
    }
    return writer.toByteArray();
  }

  void publish(JetStream jetStream, int batches, boolean isFinal) throws IOException, JetStreamApiException {
    for (int i = 0; i < batches; i++) {
      jetStream.publish(subject, nextBatch(isFinal && i == batches - 1));
    }
  }
}
