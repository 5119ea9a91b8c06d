package io.lifeline.jobs.core;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.codec.RejectedBatchException;

/** Batches for tests. */
public final class TestBatches {

  /** The start of a ten-second window. */
  public static final long START_MS = 1_700_000_000_000L;

  public static final EventType READ =
      EventType.named("disk.read.end").field("id", FieldType.U64).field("nbytes", FieldType.U64, "B").build();
  public static final EventType LOAD = EventType.named("host.load").field("load", FieldType.F64).build();

  private TestBatches() {}

  public static Incarnation emitter(int number) {
    return new Incarnation(0xABCDL, number);
  }

  public static RouteKey route(int number) {
    return new RouteKey(emitter(number), 0);
  }

  /** Returns a writer of a batch with events around {@link #START_MS}. */
  public static BatchWriter batch(int emitter, long sequence) {
    return new BatchWriter()
        .incarnation(emitter(emitter))
        .sequence(sequence)
        .host("host-a")
        .program("copy")
        .pid(42)
        .ticks(START_MS * 1_000_000, 1_000_000_000, true)
        .type(1, READ)
        .type(2, LOAD)
        .thread(7);
  }

  /** Returns the tick of a time after {@link #START_MS}. */
  public static long tick(double seconds) {
    return START_MS * 1_000_000 + (long) (seconds * 1e9);
  }

  public static BatchReader read(BatchWriter writer) {
    byte[] bytes = writer.toByteArray();
    try {
      return new BatchReader().read(bytes, 0, bytes.length);
    } catch (RejectedBatchException e) {
      throw new AssertionError("the test built a batch that is not valid: " + e, e);
    }
  }

  /** Returns a position with a broker time that many seconds after {@link #START_MS}. */
  public static Position at(long offset, double seconds) {
    return new Position(0, offset, START_MS + (long) (seconds * 1000));
  }
}
