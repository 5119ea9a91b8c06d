package io.lifeline.jobs.kafka;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;

/** Small batches for tests. */
final class Batches {

  static final EventType READ =
      EventType.named("disk.read.end").field("id", FieldType.U64).field("nbytes", FieldType.U64, "B").build();

  static final long NS_PER_S = 1_000_000_000L;

  private Batches() {}

  /** Returns a batch of the emitter with one {@link #READ} of that many bytes per second, starting at {@code fromS}. */
  static byte[] reads(long emitter, long sequence, boolean isFinal, long fromS, long... nbytes) {
    BatchWriter writer =
        new BatchWriter()
            .incarnation(new Incarnation(0, emitter))
            .sequence(sequence)
            .host("host-" + emitter)
            .program("copy")
            .ticks(fromS * NS_PER_S, NS_PER_S, true)
            .finalBatch(isFinal);
    for (int i = 0; i < nbytes.length; i++) {
      writer.event(READ, (fromS + i) * NS_PER_S, (long) i, nbytes[i]);
    }
    return writer.toByteArray();
  }

  /** Returns a batch of ten one-megabyte operations within the second, each taking about that long. */
  static byte[] operations(long emitter, long sequence, long fromS, String name, double milliseconds) {
    EventType start = EventType.named(name + ".start").field("id", FieldType.U64).build();
    EventType end =
        EventType.named(name + ".end").field("id", FieldType.U64).field("nbytes", FieldType.U64, "B").build();
    BatchWriter writer =
        new BatchWriter()
            .incarnation(new Incarnation(0, emitter))
            .sequence(sequence)
            .host("host-" + emitter)
            .program("copy")
            .ticks(fromS * NS_PER_S, NS_PER_S, true);
    for (long id = 0; id < 10; id++) {
      long startNs = fromS * NS_PER_S + id * NS_PER_S / 10;
      double took = milliseconds * 1e6 * (1 + (id * 7 + fromS * 3) % 10 / 20.0);
      writer.event(start, startNs, id).event(end, startNs + (long) took, id, 1_000_000L);
    }
    return writer.toByteArray();
  }

  static String key(long emitter) {
    return new Incarnation(0, emitter).toString();
  }
}
