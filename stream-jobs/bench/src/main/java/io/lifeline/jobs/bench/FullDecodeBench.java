package io.lifeline.jobs.bench;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.ColumnarBatch.Columns;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.jobs.core.summarise.Aggregate;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * From the bytes of a batch to summaries, on one core: every batch is validated, including its CRC-32C; one field of
 * every event is compared with a threshold; values above it are added to count, extremes, sum, mean, deviation and
 * quantiles. Half of the events have a string of 16 bytes before that field. Times are the thread's processor time.
 */
@Command(name = "full-decode-bench", mixinStandardHelpOptions = true, description = "Decode, filter, summarise.")
public final class FullDecodeBench implements Runnable {

  private static final EventType TABLE_1 =
      EventType.named("table.1").field("i", FieldType.I32).field("f", FieldType.F32).build();
  private static final EventType READ =
      EventType.named("file.read")
          .field("name", FieldType.STRING)
          .field("offset", FieldType.U64, "B")
          .field("seconds", FieldType.F64, "s")
          .build();
  private static final ThreadMXBean CPU_CLOCK = ManagementFactory.getThreadMXBean();
  private static final double THRESHOLD = 0.5;
  private static final int PAIRS = 1000;
  private static final int BATCHES = 16;
  private static final int WARM_UP_ROUNDS = 5;

  @Option(names = "--rounds", defaultValue = "11", description = "repetitions (default ${DEFAULT-VALUE})")
  private int rounds;

  @Option(names = "--million", defaultValue = "20", description = "million events each (default ${DEFAULT-VALUE})")
  private long million;

  private final BatchReader reader = new BatchReader();
  private final ColumnarBatch columns = new ColumnarBatch();
  private double[] selected = new double[2 * PAIRS];

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new FullDecodeBench()).execute(arguments));
  }

  @Override
  public void run() {
    byte[][] batches = new byte[BATCHES][];
    long expected = 0;
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < BATCHES; i++) {
      BatchWriter writer = writer();
      for (int pair = 0; pair < PAIRS; pair++) {
        double f = (float) random.nextDouble();
        double seconds = random.nextDouble();
        expected += (f > THRESHOLD ? 1 : 0) + (seconds > THRESHOLD ? 1 : 0);
        String name = String.format(Locale.ROOT, "file-%011d", random.nextInt(1 << 30));
        writer.event(TABLE_1, 1_000_000_000L + 80L * pair, random.nextInt(), f);
        writer.event(READ, 1_000_000_040L + 80L * pair, name, random.nextLong(), seconds);
      }
      batches[i] = writer.toByteArray();
    }
    long passes = Math.max(1, million * 1_000_000 / (2L * PAIRS * BATCHES));
    double[] perSecond = new double[rounds];
    CompilerShare compiler = new CompilerShare();
    for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
      compiler = round > 0 ? compiler : new CompilerShare(); // without the warm-up
      long start = CPU_CLOCK.getCurrentThreadCpuTime();
      for (long pass = 0; pass < passes; pass++) {
        if (summarise(batches) != expected) {
          throw new IllegalStateException("the summaries do not hold what the filter lets through");
        }
      }
      if (round >= 0) {
        perSecond[round] = passes * 2.0 * PAIRS * BATCHES * 1e9 / (CPU_CLOCK.getCurrentThreadCpuTime() - start);
      }
    }
    Rates.print(
        "decode.java.full",
        perSecond,
        Map.of(
            "events_per_batch", 2 * PAIRS,
            "bytes_per_batch", batches[0].length,
            "set_up_share", compiler.now()));
  }

  private static BatchWriter writer() {
    return new BatchWriter()
        .host("host")
        .program("bench")
        .ticks(1_000_000_000L, 2_700_000_000L, false)
        .calibration(0, 0, 1_800_000_000_000_000_000L, 20, false)
        .calibration(2_700_000_000L, 1_000_000_007L, 1_800_000_000_000_000_000L, 20, false)
        .thread(4242);
  }

  /** Summarises all batches into two aggregates; returns the number of their values. */
  private long summarise(byte[][] batches) {
    Aggregate floats = new Aggregate();
    Aggregate seconds = new Aggregate();
    for (byte[] batch : batches) {
      try {
        reader.read(batch, 0, batch.length);
      } catch (RejectedBatchException e) {
        throw new IllegalStateException(e);
      }
      for (Columns group : columns.fill(reader).groups()) {
        boolean isTable1 = group.type().name().equals("table.1");
        int passed = select(group.doubles(isTable1 ? 1 : 2), group.size());
        (isTable1 ? floats : seconds).add(selected, 0, passed);
      }
    }
    return floats.count() + seconds.count();
  }

  /** Avoids a branch, which the processor could not predict for random values. */
  private int select(double[] values, int size) {
    if (selected.length < size) {
      selected = new double[size];
    }
    int passed = 0;
    for (int i = 0; i < size; i++) {
      selected[passed] = values[i];
      passed += values[i] > THRESHOLD ? 1 : 0;
    }
    return passed;
  }
}
