package io.lifeline.jobs.bench.scale;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import java.util.List;
import java.util.stream.IntStream;

/** Batches of many emitters, each as a program's library would write it. */
final class EmitterBatches {
  private static final long INCARNATION = 0x5ca1e;
  private static final int HOSTS = 100;
  private static final int TICKS_PER_S = 1_000_000_000;

  private final List<EventType> types;
  private final int events;

  /**
   * @param types number of event types, which take turns
   * @param events in each batch
   */
  EmitterBatches(int types, int events) {
    this.types = IntStream.range(0, types).mapToObj(i -> EventType.named(typeName(i)).field("id", FieldType.U64)
        .field("nbytes", FieldType.I64).field("ms", FieldType.F64).build()).toList();
    this.events = events;
  }

  static String typeName(int number) {
    return "scale.type." + number;
  }

  static Incarnation incarnation(int emitter) {
    return new Incarnation(INCARNATION, emitter + 1);
  }

  /**
   * @param round number of the emitter's batch, from 0
   * @param isLast whether it says that the process has ended
   */
  byte[] batch(int emitter, int round, long timeNs, boolean isLast) {
    BatchWriter writer = new BatchWriter()
        .host("host-" + emitter % HOSTS).program("scale").pid(emitter + 1)
        .incarnation(incarnation(emitter)).sequence(round + 1)
        .ticks(0, TICKS_PER_S, true).calibration(0, 0, timeNs, 0, false)
        .counter(Counter.EMITTED, (round + 1L) * events)
        .finalBatch(isLast);
    for (int i = 0; i < events; i++) {
      long serial = (long) round * events + i;
      EventType type = types.get((int) ((emitter * (long) events + serial) % types.size()));
      writer.event(type, i, serial, serial * 3, i * 0.5);
    }
    return writer.toByteArray();
  }
}
