package io.lifeline.jobs.bench;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Compression;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import java.util.SplittableRandom;

/**
 * The events that every format carries: NetLogger's Table 1 (a time, an i32, an f32) with random values, a microsecond
 * apart, every other one of a type that the filter leaves out.
 */
public final class Backlog {

  /** What {@code summarise.fields} selects. */
  public static final String SELECTED_FIELDS = "table.1:*";

  public static final String SELECTED = "table.1";
  public static final String LEFT_OUT = "table.1.other";
  public static final String HOST = "host.example";
  public static final String PROGRAM = "bench";

  /** A minute ago: nothing is late, and nothing is ahead of its broker's time by more than clocks may be. */
  public static final long START_NS = (System.currentTimeMillis() - 60_000) * 1_000_000;

  public static final long STEP_NS = 1000;

  /** A batch of about 64 KiB before compression, as emitters make them by default. */
  public static final int EVENTS_PER_BATCH = 4000;

  public static final int EMITTERS = 8;

  private static final int SHUFFLE_BYTES = 16;
  private static final EventType SELECTED_TYPE = type(SELECTED);
  private static final EventType LEFT_OUT_TYPE = type(LEFT_OUT);

  private Backlog() {}

  /** One event of any format. */
  public record Event(long timeNs, String type, int myInt, float myFloat) {}

  /** Takes the events in their order. */
  @FunctionalInterface
  public interface Taker {
    void take(Event event) throws Exception;
  }

  /** Takes an emitter's batches in their order. */
  @FunctionalInterface
  public interface BatchTaker {
    void take(int emitter, byte[] batch) throws Exception;
  }

  private static EventType type(String name) {
    return EventType.named(name).field("my_int", FieldType.I32).field("my_float", FieldType.F32).build();
  }

  /** One after the other; equal numbers give equal events. */
  public static void events(long from, long to, Taker taker) throws Exception {
    SplittableRandom random = new SplittableRandom(from);
    for (long i = from; i < to; i++) {
      String type = i % 2 == 0 ? SELECTED : LEFT_OUT;
      taker.take(new Event(START_NS + i * STEP_NS, type, random.nextInt(), (float) random.nextDouble()));
    }
  }

  /** The same events as batches, of one emitter after the other; the count is rounded up to whole batches of each. */
  public static void batches(long events, BatchTaker taker) throws Exception {
    long rounds = (events + (long) EMITTERS * EVENTS_PER_BATCH - 1) / ((long) EMITTERS * EVENTS_PER_BATCH);
    for (long round = 0; round < rounds; round++) {
      for (int emitter = 1; emitter <= EMITTERS; emitter++) {
        taker.take(emitter, batch(emitter, round, round == rounds - 1));
      }
    }
  }

  /** How many events {@link #batches} makes of that wish. */
  public static long wholeBatches(long events) {
    long perRound = (long) EMITTERS * EVENTS_PER_BATCH;
    return (events + perRound - 1) / perRound * perRound;
  }

  public static String key(int emitter) {
    return new Incarnation(0, emitter).toString();
  }

  private static byte[] batch(int emitter, long round, boolean isLast) throws Exception {
    long first = (round * EMITTERS + emitter - 1) * EVENTS_PER_BATCH;
    BatchWriter writer =
        new BatchWriter()
            .compression(Compression.LZ4, SHUFFLE_BYTES)
            .incarnation(new Incarnation(0, emitter))
            .sequence(round + 1)
            .host(HOST)
            .program(PROGRAM)
            .ticks(START_NS + first * STEP_NS, 1_000_000_000, true)
            .finalBatch(isLast);
    events(
        first,
        first + EVENTS_PER_BATCH,
        event ->
            writer.event(
                event.type().equals(SELECTED) ? SELECTED_TYPE : LEFT_OUT_TYPE,
                event.timeNs(),
                event.myInt(),
                event.myFloat()));
    return writer.toByteArray();
  }
}
