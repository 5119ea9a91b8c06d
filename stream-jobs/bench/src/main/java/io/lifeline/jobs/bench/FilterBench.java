package io.lifeline.jobs.bench;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.ColumnarBatch.Columns;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.jobs.core.filter.Condition;
import io.lifeline.jobs.core.filter.Filter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures the cost of a condition per event of a decoded batch: compiled, written by hand for the same columns, and
 * evaluated by CEL. Each returns the indexes of the events that meet the condition, and the three must agree. Times are
 * the thread's processor time.
 */
@Command(name = "filter-bench", mixinStandardHelpOptions = true, description = "Conditions in CEL, per event.")
public final class FilterBench implements Runnable {

  /** A condition, and the same written by hand as a loop over its columns. */
  private enum Case {
    NUMBERS("nbytes > 60000u && seconds < 0.25") {
      @Override
      void choose(Columns columns, BitSet chosen) {
        long[] nbytes = columns.longs(1);
        double[] seconds = columns.doubles(2);
        int[] places = columns.eventIndex();
        for (int i = 0; i < columns.size(); i++) {
          if (nbytes[i] > 60_000 && seconds[i] < 0.25) {
            chosen.set(places[i]);
          }
        }
      }
    },
    MIXED("type.startsWith('file.') && (name.endsWith('7') || status in [3, 5]) && !(nbytes <= 30000u)") {
      @Override
      void choose(Columns columns, BitSet chosen) {
        byte[] raw = columns.raw();
        int[] offsets = columns.offsets(0);
        int[] lengths = columns.lengths(0);
        long[] nbytes = columns.longs(1);
        long[] status = columns.longs(3);
        int[] places = columns.eventIndex();
        for (int i = 0; i < columns.size(); i++) {
          boolean endsWith = lengths[i] > 0 && raw[offsets[i] + lengths[i] - 1] == '7';
          if ((endsWith || status[i] == 3 || status[i] == 5) && nbytes[i] > 30_000) {
            chosen.set(places[i]);
          }
        }
      }
    },
    TEXT("name == 'file-00000000007' || seconds > 0.99") {
      private final byte[] name = "file-00000000007".getBytes(StandardCharsets.UTF_8);

      @Override
      void choose(Columns columns, BitSet chosen) {
        byte[] raw = columns.raw();
        int[] offsets = columns.offsets(0);
        int[] lengths = columns.lengths(0);
        double[] seconds = columns.doubles(2);
        int[] places = columns.eventIndex();
        for (int i = 0; i < columns.size(); i++) {
          if (Arrays.equals(raw, offsets[i], offsets[i] + lengths[i], name, 0, name.length) || seconds[i] > 0.99) {
            chosen.set(places[i]);
          }
        }
      }
    };

    private final String condition;

    Case(String condition) {
      this.condition = condition;
    }

    abstract void choose(Columns columns, BitSet chosen);
  }

  private static final EventType READ =
      EventType.named("file.read")
          .field("name", FieldType.STRING)
          .field("nbytes", FieldType.U64, "B")
          .field("seconds", FieldType.F64, "s")
          .field("status", FieldType.I32)
          .build();
  private static final ThreadMXBean CPU_CLOCK = ManagementFactory.getThreadMXBean();
  private static final int EVENTS = 1000;
  private static final int BATCHES = 16;
  private static final int WARM_UP_ROUNDS = 5;

  /** CEL is so much slower that it evaluates only one in this many events. */
  private static final int INTERPRETED_SHARE = 100;

  @Option(names = "--rounds", defaultValue = "11", description = "repetitions (default ${DEFAULT-VALUE})")
  private int rounds;

  @Option(names = "--million", defaultValue = "20", description = "million events each (default ${DEFAULT-VALUE})")
  private long million;

  private final BatchReader[] readers = new BatchReader[BATCHES];
  private final BitSet chosen = new BitSet();

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new FilterBench()).execute(arguments));
  }

  /** The measured function: returns the events of a batch that meet the condition. */
  @FunctionalInterface
  private interface Chooser {
    BitSet choose(int batch);
  }

  @Override
  public void run() {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < BATCHES; i++) {
      readers[i] = read(batch(random));
    }
    for (Case subject : Case.values()) {
      measure(subject);
    }
  }

  private void measure(Case subject) {
    Condition condition = Condition.parse(subject.condition);
    Filter compiled = new Filter(condition);
    Filter interpreting = Filter.interpreting(condition);
    Chooser byHand = batch -> byHand(subject, batch);
    for (int batch = 0; batch < BATCHES; batch++) {
      BitSet expected = (BitSet) byHand.choose(batch).clone();
      if (!expected.equals(compiled.choose(readers[batch]))
          || !expected.equals(interpreting.choose(readers[batch]))) {
        throw new IllegalStateException(subject.condition + ": the three do not agree");
      }
    }
    long passes = Math.max(1, million * 1_000_000 / ((long) EVENTS * BATCHES));
    double[] ours = new double[rounds];
    double[] theirs = new double[rounds];
    double[] cel = new double[rounds];
    CompilerShare compiler = new CompilerShare();
    for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
      compiler = round > 0 ? compiler : new CompilerShare(); // without the warm-up
      double our = perSecond(batch -> compiled.choose(readers[batch]), passes);
      double their = perSecond(byHand, passes);
      double byCel =
          perSecond(
              batch -> interpreting.choose(readers[batch]), Math.max(1, passes / INTERPRETED_SHARE));
      if (round >= 0) {
        ours[round] = our;
        theirs[round] = their;
        cel[round] = byCel;
      }
    }
    String name = subject.name().toLowerCase(Locale.ROOT);
    Rates.print(name + ".compiled", ours, Map.of("set_up_share", compiler.now()));
    Rates.print(name + ".by_hand", theirs, Map.of());
    Rates.print(name + ".cel", cel, Map.of());
  }

  private double perSecond(Chooser chooser, long passes) {
    long found = 0;
    long start = CPU_CLOCK.getCurrentThreadCpuTime();
    for (long pass = 0; pass < passes; pass++) {
      for (int batch = 0; batch < BATCHES; batch++) {
        found += chooser.choose(batch).length();
      }
    }
    long elapsedNs = CPU_CLOCK.getCurrentThreadCpuTime() - start;
    if (found == 0) {
      throw new IllegalStateException("nothing met the condition");
    }
    return passes * (double) EVENTS * BATCHES * 1e9 / elapsedNs;
  }

  private BitSet byHand(Case subject, int batch) {
    chosen.clear();
    for (Columns group : readers[batch].columns().groups()) {
      subject.choose(group, chosen);
    }
    return chosen;
  }

  private static byte[] batch(SplittableRandom random) {
    BatchWriter writer = new BatchWriter().host("host").program("bench");
    for (int i = 0; i < EVENTS; i++) {
      String name = String.format(Locale.ROOT, "file-%011d", random.nextInt(100));
      writer.event(READ, i, name, (long) random.nextInt(65_536), random.nextDouble(), random.nextInt(8));
    }
    return writer.toByteArray();
  }

  private static BatchReader read(byte[] batch) {
    try {
      return new BatchReader().read(batch, 0, batch.length);
    } catch (RejectedBatchException e) {
      throw new IllegalStateException(e);
    }
  }
}
