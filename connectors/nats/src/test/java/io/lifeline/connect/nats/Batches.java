package io.lifeline.connect.nats;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;

/** Batches of one emitter. */
final class Batches {

  private static final EventType READ = EventType.named("disk.read.end").field("id", FieldType.U64).build();

  private Batches() {}

  static byte[] batch(long sequence) {
    return new BatchWriter()
        .incarnation(new Incarnation(1, 2))
        .sequence(sequence)
        .host("host-a")
        .program("test")
        .pid(42)
        .ticks(1_700_000_000L * 1_000_000_000, 1_000_000_000, true)
        .type(1, READ)
        .thread(7)
        .event(READ, 1_700_000_000L * 1_000_000_000, 1L)
        .counter(Counter.EMITTED, sequence)
        .toByteArray();
  }
}
