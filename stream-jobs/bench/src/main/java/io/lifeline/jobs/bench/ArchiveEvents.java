package io.lifeline.jobs.bench;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Generates batches for archives: of one emitter, in order, with a few hundred nanoseconds between events. */
final class ArchiveEvents {
  static final int EVENTS_PER_BATCH = 4_000;

  private static final List<FieldType> FOUR =
      List.of(FieldType.I32, FieldType.F32, FieldType.U32, FieldType.I64);
  private static final List<FieldType> ELEVEN = List.of(FieldType.I32, FieldType.F32, FieldType.U32, FieldType.I64,
      FieldType.F64, FieldType.BOOL, FieldType.STRING, FieldType.STRING, FieldType.I32, FieldType.F64, FieldType.U32);

  private ArchiveEvents() {}

  /**
   * @param columns columns of a type, including its time: 5 or 12
   * @param types number of event types, used in turn
   * @param startNs time of the first event, since 1970
   */
  static List<byte[]> batches(int columns, int types, long events, long startNs) {
    List<FieldType> fields = columns == 5 ? FOUR : ELEVEN;
    List<EventType> eventTypes = new ArrayList<>();
    for (int i = 0; i < types; i++) {
      EventType.Builder type = EventType.named("bench." + i);
      for (int field = 0; field < fields.size(); field++) {
        type.field("f" + field, fields.get(field));
      }
      eventTypes.add(type.build());
    }
    SplittableRandom random = new SplittableRandom(1);
    Incarnation incarnation = new Incarnation(random.nextLong(), random.nextLong());
    List<byte[]> batches = new ArrayList<>();
    long tick = 0;
    long id = 0;
    for (int sequence = 1; sequence <= events / EVENTS_PER_BATCH; sequence++) {
      BatchWriter batch = new BatchWriter().incarnation(incarnation).sequence(sequence).host("bench.example")
          .program("bench").pid(1).calibration(0, 0, startNs, 0, false);
      for (int i = 0; i < EVENTS_PER_BATCH; i++) {
        tick += random.nextInt(1_000);
        batch.event(eventTypes.get(i % types), tick, values(fields, random, id++));
      }
      batches.add(batch.toByteArray());
    }
    return batches;
  }

  private static Object[] values(List<FieldType> fields, SplittableRandom random, long id) {
    Object[] values = new Object[fields.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = switch (fields.get(i)) {
        case I32 -> (Object) random.nextInt();
        case U32 -> (long) random.nextInt(1 << 20);
        case F32 -> (float) random.nextDouble();
        case F64 -> random.nextDouble();
        case BOOL -> random.nextBoolean();
        case STRING -> "file-" + random.nextInt(1_000);
        default -> id;
      };
    }
    return values;
  }
}
