package io.lifeline.connect.archive;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;

/** Batches as small as a test needs them. */
final class Batches {

  static final int EVENTS = 10;

  private static final EventType SERIAL =
      EventType.named("test.serial").field("emitter", FieldType.U64).field("serial", FieldType.U64).build();

  private Batches() {}

  /** The emitter's batch with that sequence: {@link #EVENTS} events whose serials follow those of the one before. */
  static byte[] serials(long emitter, long sequence) {
    return serials(emitter, sequence, EVENTS);
  }

  static byte[] serials(long emitter, long sequence, int events) {
    BatchWriter writer =
        new BatchWriter().incarnation(new Incarnation(0, emitter)).sequence(sequence).host("test").program("test");
    long first = (sequence - 1) * events;
    for (long serial = first; serial < first + events; serial++) {
      writer.event(SERIAL, serial, emitter, serial);
    }
    return writer.toByteArray();
  }
}
