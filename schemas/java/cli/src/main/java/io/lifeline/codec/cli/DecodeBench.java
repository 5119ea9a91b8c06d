package io.lifeline.codec.cli;

import static java.util.stream.Collectors.joining;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.Compression;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.RejectedBatchException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Measures how fast one core reads batches through the public API: every batch is checked anew, and every field and the
 * converted time of every event are consumed. Prints a line of JSON per measurement; the floor sums the batch's bytes
 * as longs. Times are the thread's CPU time, so that other processes do not affect them. The share of set-up is that of
 * the time in which the Java machine compiled.
 */
public final class DecodeBench {
  private static final EventType TABLE_1 =
      EventType.named("table.1").field("i", FieldType.I32).field("f", FieldType.F32).build();
  private static final EventType END =
      EventType.named("table.1.end").field("i", FieldType.I32).field("f", FieldType.F32).build();
  private static final EventType MIXED =
      EventType.named("file.read")
          .field("name", FieldType.STRING)
          .field("offset", FieldType.U64, "B")
          .field("seconds", FieldType.F64, "s")
          .build();
  private static final ThreadMXBean CPU_CLOCK = ManagementFactory.getThreadMXBean();
  private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();
  private static final int BATCH_BYTES = 65_536;
  private static final int HEADER_ROOM = 512;
  private static final int WARM_UP_ROUNDS = 20;

  private final int rounds;
  private final long eventsPerRound;

  private DecodeBench(int rounds, long eventsPerRound) {
    this.rounds = rounds;
    this.eventsPerRound = eventsPerRound;
  }

  /** One pass over a batch; returns a number that depends on everything it read. */
  @FunctionalInterface
  private interface Pass {
    long over(byte[] batch) throws RejectedBatchException;
  }

  public static void main(String[] arguments) throws RejectedBatchException {
    if (arguments.length > 2 || Arrays.asList(arguments).contains("--help")) {
      System.out.println("Usage: DecodeBench [ROUNDS [MILLION_EVENTS_PER_ROUND]]");
      return;
    }
    int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 11;
    long millions = arguments.length > 1 ? Long.parseLong(arguments[1]) : 20;
    new DecodeBench(rounds, millions * 1_000_000).run();
  }

  private void run() throws RejectedBatchException {
    byte[] table1 = table1(ByteOrder.LITTLE_ENDIAN, Compression.NONE, 0);
    measure("floor-sum-of-longs", table1, DecodeBench::sumOfLongs);
    measure("table1-columns", table1, columns());
    measure("table1-by-event", table1, byEvent());
    measure("table1-big-endian-columns", table1(ByteOrder.BIG_ENDIAN, Compression.NONE, 0), columns());
    measure("table1-lz4-shuffled-columns", table1(ByteOrder.LITTLE_ENDIAN, Compression.LZ4, 16), columns());
    measure("table1-lz4-ticks-columns", table1(ByteOrder.LITTLE_ENDIAN, Compression.LZ4, 17), columns());
    measure("two-types-columns", twoTypes(), columns());
    byte[] mixed = mixed();
    measure("mixed-columns", mixed, columns());
    measure("mixed-by-event", mixed, byEvent());
  }

  private void measure(String name, byte[] batch, Pass pass) throws RejectedBatchException {
    int events = new BatchReader().read(batch, 0, batch.length).eventCount();
    long repeats = Math.max(1, eventsPerRound / events);
    long expected = pass.over(batch);
    double[] perSecond = new double[rounds];
    long compiledMs = 0;
    long startNs = 0;
    for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
      if (round == 0) {
        compiledMs = COMPILER.getTotalCompilationTime();
        startNs = System.nanoTime();
      }
      long start = CPU_CLOCK.getCurrentThreadCpuTime();
      for (long i = 0; i < repeats; i++) {
        if (pass.over(batch) != expected) {
          throw new IllegalStateException(name + " did not read the same twice");
        }
      }
      if (round >= 0) {
        perSecond[round] = repeats * events * 1e9 / (CPU_CLOCK.getCurrentThreadCpuTime() - start);
      }
    }
    double setUpShare = (COMPILER.getTotalCompilationTime() - compiledMs) * 1e6 / (System.nanoTime() - startNs);
    String inOrder =
        Arrays.stream(perSecond).mapToObj(rate -> String.format(Locale.ROOT, "%.0f", rate)).collect(joining(","));
    Arrays.sort(perSecond);
    System.out.printf(
        Locale.ROOT,
        "{\"name\":\"%s\",\"per_s\":[%s],\"per_s_median\":%.0f,\"per_s_min\":%.0f,\"per_s_max\":%.0f,\"rounds\":%d,"
            + "\"events_per_batch\":%d,\"bytes_per_batch\":%d,\"set_up_share\":%.3f}%n",
        name,
        inOrder,
        perSecond[rounds / 2],
        perSecond[0],
        perSecond[rounds - 1],
        rounds,
        events,
        batch.length,
        setUpShare);
  }

  private static byte[] table1(ByteOrder order, Compression compression, int stride) {
    SplittableRandom random = new SplittableRandom(1);
    BatchWriter writer = start().byteOrder(order).compression(compression, stride);
    int events = (BATCH_BYTES - HEADER_ROOM) / 16;
    for (int i = 0; i < events; i++) {
      writer.event(TABLE_1, 1_000_000_000L + 40L * i, random.nextInt(), (float) random.nextDouble());
    }
    return writer.toByteArray();
  }

  /** Returns a batch of operations' starts and ends, which take turns. */
  private static byte[] twoTypes() {
    SplittableRandom random = new SplittableRandom(3);
    BatchWriter writer = start();
    int events = (BATCH_BYTES - HEADER_ROOM) / 16;
    for (int i = 0; i < events; i++) {
      writer.event(i % 2 == 0 ? TABLE_1 : END, 1_000_000_000L + 40L * i, random.nextInt(), (float) random.nextDouble());
    }
    return writer.toByteArray();
  }

  /** Returns a batch in which half of the events have a string of 16 bytes. */
  private static byte[] mixed() {
    SplittableRandom random = new SplittableRandom(2);
    BatchWriter writer = start();
    int pairs = (BATCH_BYTES - HEADER_ROOM) / (16 + 48);
    for (int i = 0; i < pairs; i++) {
      writer.event(TABLE_1, 1_000_000_000L + 80L * i, random.nextInt(), (float) random.nextDouble());
      String name = String.format(Locale.ROOT, "file-%011d", random.nextInt(1 << 30));
      writer.event(MIXED, 1_000_000_040L + 80L * i, name, random.nextLong(), random.nextDouble());
    }
    return writer.toByteArray();
  }

  private static BatchWriter start() {
    return new BatchWriter()
        .host("host")
        .program("bench")
        .ticks(1_000_000_000L, 2_700_000_000L, false)
        .calibration(0, 0, 1_800_000_000_000_000_000L, 20, false)
        .calibration(2_700_000_000L, 1_000_000_007L, 1_800_000_000_000_000_000L, 20, false)
        .thread(4242);
  }

  private static long sumOfLongs(byte[] batch) {
    LongBuffer longs = ByteBuffer.wrap(batch).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer();
    long sum = 0;
    for (int i = 0; i < longs.limit(); i++) {
      sum += longs.get(i);
    }
    return sum;
  }

  private static Pass byEvent() {
    BatchReader reader = new BatchReader();
    return batch -> {
      reader.read(batch, 0, batch.length);
      long sum = 0;
      double floats = 0;
      while (reader.next()) {
        sum += reader.timeNs();
        if (reader.type().fields().size() == 2) {
          sum += reader.getLong(0);
          floats += reader.getDouble(1);
        } else {
          sum += reader.raw()[reader.valueOffset(0)] + reader.valueLength(0) + reader.getLong(1);
          floats += reader.getDouble(2);
        }
      }
      return sum + Double.doubleToLongBits(floats);
    };
  }

  private static Pass columns() {
    BatchReader reader = new BatchReader();
    ColumnarBatch columns = new ColumnarBatch();
    return batch -> {
      long sum = 0;
      for (ColumnarBatch.Columns group : columns.fill(reader.read(batch, 0, batch.length)).groups()) {
        int size = group.size();
        sum += sum(group.timeNs(), size);
        if (group.type().fields().size() == 2) {
          sum += sum(group.longs(0), size) + sum(group.doubles(1), size);
        } else {
          sum += firstBytes(group) + sum(group.longs(1), size) + sum(group.doubles(2), size);
        }
      }
      return sum;
    };
  }

  private static long sum(long[] values, int size) {
    long sum = 0;
    for (int i = 0; i < size; i++) {
      sum += values[i];
    }
    return sum;
  }

  /** With four sums, since an addition waits for the previous one of its sum longer than decoding a value takes. */
  private static long sum(double[] values, int size) {
    double a = 0;
    double b = 0;
    double c = 0;
    double d = 0;
    int i = 0;
    for (; i < size - 3; i += 4) {
      a += values[i];
      b += values[i + 1];
      c += values[i + 2];
      d += values[i + 3];
    }
    for (; i < size; i++) {
      a += values[i];
    }
    return Double.doubleToLongBits(a + b + (c + d));
  }

  private static long firstBytes(ColumnarBatch.Columns group) {
    long sum = 0;
    for (int i = 0; i < group.size(); i++) {
      sum += group.raw()[group.offsets(0)[i]] + group.lengths(0)[i];
    }
    return sum;
  }
}
