package io.lifeline.jobs.bench;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Compression;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.apache.kafka.common.utils.Utils;

/**
 * The events in every format: NetLogger's Table 1 (a time, an i32, an f32) with random values, a microsecond apart;
 * every other event has a type that the filter leaves out.
 */
public final class Backlog {

  /** Value of {@code summarise.fields}. */
  public static final String SELECTED_FIELDS = "table.1:*";

  public static final String SELECTED = "table.1";
  public static final String LEFT_OUT = "table.1.other";
  public static final String HOST = "host.example";
  public static final String PROGRAM = "bench";

  /** Minutes ago, so that no event is late, and none is ahead of broker time by more than the permitted skew. */
  public static final long START_NS = (System.currentTimeMillis() - 300_000) * 1_000_000;

  public static final long STEP_NS = 1000;

  /** About 64 KiB before compression, which is the emitters' default. */
  public static final int EVENTS_PER_BATCH = 4000;

  public static final int EMITTERS = 8;

  private static final int SHUFFLE_BYTES = 16;
  private static final Incarnation[] INCARNATIONS = incarnations();
  private static final EventType SELECTED_TYPE = type(SELECTED);
  private static final EventType LEFT_OUT_TYPE = type(LEFT_OUT);

  private Backlog() {}

  /** One event of any format. */
  public record Event(long timeNs, String type, int myInt, float myFloat) {}

  /** Receives events in order. */
  @FunctionalInterface
  public interface Taker {
    void take(Event event) throws Exception;
  }

  /** Receives an emitter's batches in order. */
  @FunctionalInterface
  public interface BatchTaker {
    void take(int emitter, byte[] batch) throws Exception;
  }

  private static EventType type(String name) {
    return EventType.named(name).field("my_int", FieldType.I32).field("my_float", FieldType.F32).build();
  }

  /** Generates the events of that range; the same range always gives the same events. */
  public static void events(long from, long to, Taker taker) throws Exception {
    SplittableRandom random = new SplittableRandom(from);
    for (long i = from; i < to; i++) {
      String type = i % 2 == 0 ? SELECTED : LEFT_OUT;
      taker.take(new Event(START_NS + i * STEP_NS, type, random.nextInt(), (float) random.nextDouble()));
    }
  }

  /** Generates batches of all emitters in turn; the count is rounded up to whole batches of each emitter. */
  public static void batches(long events, BatchTaker taker) throws Exception {
    long rounds = (events + (long) EMITTERS * EVENTS_PER_BATCH - 1) / ((long) EMITTERS * EVENTS_PER_BATCH);
    for (long round = 0; round < rounds; round++) {
      for (int emitter = 1; emitter <= EMITTERS; emitter++) {
        taker.take(emitter, batch(emitter, round, round == rounds - 1));
      }
    }
  }

  /** Returns the number of events that {@link #batches} generates for that number. */
  public static long wholeBatches(long events) {
    long perRound = (long) EMITTERS * EVENTS_PER_BATCH;
    return (events + perRound - 1) / perRound * perRound;
  }

  public static String key(int emitter) {
    return incarnation(emitter).toString();
  }

  /** Of 2, 4 or 8 partitions its key selects that of its number, or jobs would reject its batches there. */
  public static Incarnation incarnation(int emitter) {
    return INCARNATIONS[emitter % EMITTERS];
  }

  private static Incarnation[] incarnations() {
    Incarnation[] found = new Incarnation[EMITTERS];
    for (int missing = EMITTERS, low = 1; missing > 0; low++) {
      Incarnation next = new Incarnation(0, low);
      int place = Utils.toPositive(Utils.murmur2(next.toString().getBytes(StandardCharsets.US_ASCII))) % EMITTERS;
      if (found[place] == null) {
        found[place] = next;
        missing--;
      }
    }
    return found;
  }

  private static byte[] batch(int emitter, long round, boolean isLast) throws Exception {
    long first = (round * EMITTERS + emitter - 1) * EVENTS_PER_BATCH;
    BatchWriter writer =
        new BatchWriter()
            .compression(Compression.LZ4, SHUFFLE_BYTES)
            .incarnation(incarnation(emitter))
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
