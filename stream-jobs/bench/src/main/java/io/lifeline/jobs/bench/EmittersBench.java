package io.lifeline.jobs.bench;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.postgres.PostgresArchive;
import io.lifeline.jobs.archive.postgres.PostgresOptions;
import io.lifeline.jobs.archive.postgres.PostgresUrl;
import io.lifeline.jobs.core.Position;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * From batches in memory to committed rows in PostgreSQL: the same number of events, of four types, in small batches of
 * many emitters and in large batches of few, in turns. Emitters are known before the measurement starts.
 */
@Command(name = "emitters-bench", mixinStandardHelpOptions = true, description = "Many emitters, against few.")
public final class EmittersBench implements Runnable {
  private static final int FEW = 8;
  private static final int EVENTS = 200_000;

  /** Times in which each emitter writes a batch, per repetition. */
  private static final int TICKS = 3;

  private static final List<EventType> TYPES = IntStream.range(0, 4).mapToObj(i -> EventType.named("bench." + i)
      .field("id", FieldType.U64).field("nbytes", FieldType.I64).field("ms", FieldType.F64).build()).toList();

  @Option(names = "--url", required = true, description = "postgresql://user@host:port/database")
  private String url;

  @Option(names = "--password-file", required = true, description = "file whose first line is the password")
  private Path passwordFile;

  @Option(names = "--emitters", defaultValue = "10000", description = "how many are many (default ${DEFAULT-VALUE})")
  private int emitters;

  @Option(names = "--rounds", defaultValue = "5", description = "repetitions (default ${DEFAULT-VALUE})")
  private int rounds;

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new EmittersBench()).execute(arguments));
  }

  @Override
  public void run() {
    double[] many = new double[rounds];
    double[] few = new double[rounds];
    try (Load manyEmitters = new Load("many", emitters); Load fewEmitters = new Load("few", FEW)) {
      manyEmitters.rate();
      fewEmitters.rate();
      for (int round = 0; round < rounds; round++) {
        many[round] = manyEmitters.rate();
        few[round] = fewEmitters.rate();
      }
    } catch (IOException e) {
      throw new CommandLine.ExecutionException(new CommandLine(this), e.getMessage(), e);
    }
    Rates.print("archive.postgres.emitters", many, Map.of("emitters", emitters, "events_per_batch", EVENTS / emitters));
    Rates.print("emitters." + FEW, few, Map.of("events_per_batch", EVENTS / FEW));
  }

  /** An archive, and the emitters that write to it. */
  private final class Load implements AutoCloseable {
    private final int emitters;
    private final ArchiveWriter writer;
    private long sequence;
    private long offset;

    Load(String schema, int emitters) throws IOException {
      this.emitters = emitters;
      this.writer = new PostgresArchive(PostgresOptions.at(PostgresUrl.parse(url)).withPasswordFile(passwordFile)
          .withSchema(schema)).open(rejection -> {
            throw new IllegalStateException("refused: " + rejection.code());
          });
    }

    /** Returns events per second. */
    double rate() throws IOException {
      long now = System.currentTimeMillis();
      List<byte[]> batches = new ArrayList<>();
      for (int tick = 0; tick < TICKS; tick++) {
        sequence++;
        for (int emitter = 1; emitter <= emitters; emitter++) {
          batches.add(batch(emitter, now * 1_000_000 + tick));
        }
      }
      long start = System.nanoTime();
      for (byte[] batch : batches) {
        writer.append(new Position(0, offset++, now), batch);
        writer.rollIfDue(System.nanoTime());
      }
      writer.roll();
      return (double) TICKS * EVENTS * 1e9 / (System.nanoTime() - start);
    }

    private byte[] batch(int emitter, long timeNs) {
      int events = EVENTS / emitters;
      BatchWriter batch = new BatchWriter().incarnation(new Incarnation(77, emitter)).sequence(sequence)
          .host("host-" + emitter).program("bench").pid(emitter).calibration(0, 0, timeNs, 0, false)
          .counter(Counter.EMITTED, sequence * events);
      for (int i = 0; i < events; i++) {
        batch.event(TYPES.get(i % TYPES.size()), i, (long) i, 3L * i, i * 0.5);
      }
      return batch.toByteArray();
    }

    @Override
    public void close() throws IOException {
      writer.close();
    }
  }
}
