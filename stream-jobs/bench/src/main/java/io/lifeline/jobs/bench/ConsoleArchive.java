package io.lifeline.jobs.bench;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.core.Position;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Writes the archive that scripts/bench-console shows: the events of remote copies during six hours, always the same
 * ones. In four lanes a source sends files to a destination, one after the other, with a pause after each; each block
 * passes eight event types. Every twelfth file is slow on the network, and a few blocks are outliers.
 */
@Command(name = "console-archive", mixinStandardHelpOptions = true,
    description = "Writes an archive of copies and prints its size as JSON.")
public final class ConsoleArchive implements Runnable {
  private static final long START_NS = 1_790_000_000_000_000_000L;
  private static final long SPAN_NS = 6L * 3600 * 1_000_000_000;
  private static final int LANES = 4;
  private static final int FILES = 72;
  private static final int EVENTS_PER_BLOCK = 8;
  private static final int OUTLIERS_PER_LANE = 2;
  private static final long OUTLIER_NS = 3_000_000_000L;
  private static final int SLOW_FILE = 12;
  private static final double SLOWER = 5;
  private static final long BLOCK_BYTES = 1 << 20;
  private static final long IDS_PER_LANE = 1_000_000_000L;
  private static final double[] MEDIAN_NS = {800e3, 2e6, 2e6, 1.5e6};
  private static final double SIGMA = 0.5;
  private static final double QUEUE_NS = 500e3;

  @Option(names = "--events", required = true, description = "about how many events to write")
  private long events;

  @Option(names = "--dir", required = true, description = "the archive's directory, which does not exist yet")
  private Path directory;

  private ArchiveWriter writer;
  private long offset;

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new ConsoleArchive()).execute(arguments));
  }

  @Override
  public void run() {
    try {
      ParquetArchive archive = new ParquetArchive(ParquetOptions.in(directory));
      try (ArchiveWriter opened = archive.open(rejection -> {
        throw new IllegalStateException("refused: " + rejection.code());
      })) {
        writer = opened;
        offset = writer.nextOffset(0);
        write();
      }
      long rows = archive.counts().count().values().stream().mapToLong(Long::longValue).sum();
      System.out.println("{\"name\":\"console-archive\",\"events\":" + rows + "}");
    } catch (IOException e) {
      throw new CommandLine.ExecutionException(new CommandLine(this), e.getMessage(), e);
    }
  }

  /** Writes all lanes file by file, so that batches arrive in about the order of time. */
  private void write() throws IOException {
    SplittableRandom random = new SplittableRandom(1);
    List<Lane> lanes = new ArrayList<>();
    for (int number = 0; number < LANES; number++) {
      lanes.add(new Lane(number, random.split()));
    }
    for (int file = 0; file < FILES; file++) {
      for (Lane lane : lanes) {
        lane.copy(file);
      }
    }
    for (Lane lane : lanes) {
      lane.source.end();
      lane.destination.end();
    }
  }

  private void append(byte[] batch, long timeNs) throws IOException {
    writer.append(new Position(0, offset++, timeNs / 1_000_000), batch);
  }

  /** A source and a destination that copy files one after the other. */
  private final class Lane {
    final CopyEmitter source;
    final CopyEmitter destination;
    private final SplittableRandom random;
    private final int number;
    private final long blocksPerFile = Math.max(1, events / EVENTS_PER_BLOCK / LANES / FILES);
    private long block;

    Lane(int number, SplittableRandom random) {
      this.number = number;
      this.random = random;
      String program = number % 2 == 0 ? "remote-copy" : "backup";
      source = emitter(program, "source-" + number, 1000 + number);
      destination = emitter(program + "-server", "target-" + number, 2000 + number);
    }

    private CopyEmitter emitter(String program, String host, long pid) {
      return new CopyEmitter(new Incarnation(random.nextLong(), random.nextLong()), program, host + ".example", pid,
          START_NS, ConsoleArchive.this::append);
    }

    /** Copies a file in the first half of its share of the time, the lanes a little apart. */
    void copy(int file) throws IOException {
      long share = SPAN_NS / FILES;
      long begin = file * share + number * share / 10;
      double interval = share / 2.0 / blocksPerFile;
      double network = (file + number) % SLOW_FILE == SLOW_FILE - 1 ? SLOWER : 1;
      double time = begin;
      for (long i = 0; i < blocksPerFile; i++) {
        time += interval * 2 * random.nextDouble();
        block(Math.round(time), network, isOutlier(file, i));
      }
    }

    private boolean isOutlier(int file, long i) {
      return i == blocksPerFile / 2 && file % (FILES / OUTLIERS_PER_LANE) == 7 * (number + 1);
    }

    private void block(long start, double network, boolean outlier) throws IOException {
      long id = number * IDS_PER_LANE + ++block;
      long at = start;
      for (int operation = 0; operation < MEDIAN_NS.length; operation++) {
        double factor = operation == 1 || operation == 2 ? network : 1;
        long duration = Math.round(MEDIAN_NS[operation] * factor * Math.exp(SIGMA * random.nextGaussian()))
            + (outlier && operation == 1 ? OUTLIER_NS : 0);
        CopyEmitter emitter = operation < 2 ? source : destination;
        emitter.operation(operation, id, (block - 1) * BLOCK_BYTES, BLOCK_BYTES, at, at + duration);
        at += duration + Math.round(-Math.log(1 - random.nextDouble()) * QUEUE_NS);
      }
    }
  }
}
