package io.lifeline.jobs.bench;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.parquet.ManifestCounts;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.core.Position;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine;

/**
 * Measures rows per second from batches in memory to synced and published Parquet files, including decoding,
 * de-duplication, columns and manifests. The event is that of NetLogger's Table 1 (HPDC 2002): a time, an i32 and an
 * f32, here with random values, plus the ten columns of the event's origin.
 */
@Command(
    name = "archive-bench",
    mixinStandardHelpOptions = true,
    description = "Measures how fast batches become Parquet.")
public final class ArchiveBench implements Runnable {
  private static final int EVENTS_PER_BATCH = 4_000;

  @Option(names = "--events", defaultValue = "4000000", description = "events per round (default ${DEFAULT-VALUE})")
  private int events;

  @Option(names = "--rounds", defaultValue = "5", description = "rounds; the first warms up (default ${DEFAULT-VALUE})")
  private int rounds;

  @Option(names = "--types", defaultValue = "1", description = "event types that take turns (default ${DEFAULT-VALUE})")
  private int types;

  @Option(names = "--threads", description = "threads for encoding (default: all processors)")
  private Integer threads;

  @Option(names = "--dir", required = true, description = "where archives are written and removed again")
  private Path parent;

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new ArchiveBench()).execute(arguments));
  }

  @Override
  public void run() {
    try {
      List<Double> rates = new ArrayList<>();
      for (int round = 1; round <= rounds; round++) {
        double rate = round(round);
        if (round > 1 || rounds == 1) {
          rates.add(rate);
        }
      }
      rates.sort(Comparator.naturalOrder());
      System.out.printf(Locale.ROOT, "archive: median=%.2f M rows/s min=%.2f max=%.2f rounds=%d types=%d%n",
          rates.get(rates.size() / 2), rates.get(0), rates.get(rates.size() - 1), rates.size(), types);
    } catch (IOException e) {
      throw new CommandLine.ExecutionException(new CommandLine(this), e.getMessage(), e);
    }
  }

  private double round(int round) throws IOException {
    List<byte[]> batches = batches();
    Path directory = Files.createTempDirectory(parent, "archive-bench");
    ParquetOptions options = ParquetOptions.in(directory);
    if (threads != null) {
      options = options.withThreads(threads);
    }
    try {
      long start = System.nanoTime();
      try (ArchiveWriter writer = new ParquetArchive(options).open(rejection -> refuse(rejection.code()))) {
        long offset = writer.nextOffset(0);
        for (byte[] batch : batches) {
          writer.append(new Position(0, offset++, 0), batch);
        }
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      long archived = new ManifestCounts(directory).refresh().values().stream().mapToLong(Long::longValue).sum();
      long written = (long) EVENTS_PER_BATCH * batches.size();
      if (archived != written) {
        refuse("archived " + archived + " of " + written);
      }
      long bytes = ParquetBench.size(directory);
      System.out.printf(Locale.ROOT,
          "round %d: %d rows in %.2f s, %.2f M rows/s, %.1f bytes per row%n", round, archived, seconds,
          archived / seconds / 1e6, (double) bytes / archived);
      return archived / seconds / 1e6;
    } finally {
      ParquetBench.delete(directory);
    }
  }

  private static void refuse(String what) {
    throw new IllegalStateException("the archive is not what was written: " + what);
  }

  private List<byte[]> batches() {
    List<EventType> eventTypes = new ArrayList<>();
    for (int i = 0; i < types; i++) {
      eventTypes.add(EventType.named("bench." + i)
          .field("my_int", FieldType.I32).field("my_float", FieldType.F32).build());
    }
    Random random = new Random(1);
    Incarnation incarnation = new Incarnation(random.nextLong(), random.nextLong());
    List<byte[]> batches = new ArrayList<>();
    long tick = 0;
    for (int sequence = 1; sequence <= Math.max(1, events / EVENTS_PER_BATCH); sequence++) {
      BatchWriter batch =
          new BatchWriter().incarnation(incarnation).sequence(sequence).host("bench.example").program("bench").pid(1)
              .calibration(0, 0, 1_700_000_000_000_000_000L, 0, false);
      for (int i = 0; i < EVENTS_PER_BATCH; i++) {
        tick += random.nextInt(1_000);
        batch.event(eventTypes.get(i % types), tick, random.nextInt(), random.nextFloat());
      }
      batches.add(batch.toByteArray());
    }
    return batches;
  }
}
