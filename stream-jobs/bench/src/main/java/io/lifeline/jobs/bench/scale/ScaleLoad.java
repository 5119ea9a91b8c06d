package io.lifeline.jobs.bench.scale;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.bench.BatchPublisher;
import java.util.List;
import java.util.stream.IntStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Publishes batches of many emitters to a broker, each as a program's library would write it. */
@Command(name = "scale-load", mixinStandardHelpOptions = true, description = "Publishes batches of many emitters.")
public final class ScaleLoad implements Runnable {
  private static final long INCARNATION = 0x5ca1e;
  private static final int HOSTS = 100;
  private static final int TICKS_PER_S = 1_000_000_000;

  @Option(names = "--url", required = true, description = "the broker, with Lifeline's streams or topics")
  private String url;

  @Option(names = "--first", defaultValue = "0", description = "number of the first emitter (default ${DEFAULT-VALUE})")
  private int first;

  @Option(names = "--emitters", required = true, description = "how many")
  private int emitters;

  @Option(names = "--batches", required = true, description = "of each emitter, in turns")
  private int batches;

  @Option(names = "--events", defaultValue = "20", description = "in each batch (default ${DEFAULT-VALUE})")
  private int events;

  @Option(names = "--types", defaultValue = "4",
      description = "event types, which take turns (default ${DEFAULT-VALUE})")
  private int types;

  @Option(names = "--end", description = "each emitter's last batch says that its process has ended")
  private boolean end;

  private List<EventType> all;

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new ScaleLoad()).execute(arguments));
  }

  @Override
  public void run() {
    all = IntStream.range(0, types).mapToObj(i -> EventType.named("scale.type." + i).field("id", FieldType.U64)
        .field("nbytes", FieldType.I64).field("ms", FieldType.F64).build()).toList();
    try (BatchPublisher publisher = BatchPublisher.to(url)) {
      for (int round = 0; round < batches; round++) {
        for (int emitter = first; emitter < first + emitters; emitter++) {
          publisher.publish(new Incarnation(INCARNATION, emitter + 1), batch(emitter, round));
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) {
      throw new IllegalStateException("cannot publish: " + e.getMessage(), e);
    }
  }

  private byte[] batch(int emitter, int round) throws Exception {
    long nowNs = System.currentTimeMillis() * 1_000_000;
    BatchWriter writer = new BatchWriter()
        .host("host-" + emitter % HOSTS).program("scale").pid(emitter + 1)
        .incarnation(new Incarnation(INCARNATION, emitter + 1)).sequence(round + 1)
        .ticks(0, TICKS_PER_S, true).calibration(0, 0, nowNs, 0, false)
        .counter(Counter.EMITTED, (round + 1L) * events)
        .finalBatch(end && round == batches - 1);
    for (int i = 0; i < events; i++) {
      long serial = (long) round * events + i;
      writer.event(all.get((int) ((emitter * (long) events + serial) % types)), i, serial, serial * 3, i * 0.5);
    }
    return writer.toByteArray();
  }
}
