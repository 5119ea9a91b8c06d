package io.lifeline.jobs.bench;

import com.sun.management.OperatingSystemMXBean;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.core.Position;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * From batches in memory to Parquet files that are synced and published, including validation, decoding, deduplication
 * and manifests. Rows are divided by the processor time of all threads of the process, including DuckDB's, so the rate
 * is that of one core.
 */
@Command(name = "parquet-bench", mixinStandardHelpOptions = true, description = "Batches to Parquet, per core.")
public final class ParquetBench implements Runnable {
  private static final OperatingSystemMXBean PROCESS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final long START_NS = 1_790_000_000_000_000_000L;
  private static final int WARM_UP_ROUNDS = 10;

  @Option(names = "--name", required = true, description = "of the row")
  private String name;

  @Option(names = "--columns", required = true, description = "5 or 12, the time included")
  private int columns;

  @Option(names = "--types", defaultValue = "1", description = "event types that take turns (default ${DEFAULT-VALUE})")
  private int types;

  @Option(names = "--rounds", defaultValue = "11", description = "repetitions (default ${DEFAULT-VALUE})")
  private int rounds;

  @Option(names = "--million", defaultValue = "4", description = "million events each (default ${DEFAULT-VALUE})")
  private long million;

  @Option(names = "--dir", required = true, description = "where archives are written and removed again")
  private Path parent;

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new ParquetBench()).execute(arguments));
  }

  @Override
  public void run() {
    try {
      List<byte[]> batches = ArchiveEvents.batches(columns, types, million * 1_000_000, START_NS);
      long events = (long) ArchiveEvents.EVENTS_PER_BATCH * batches.size();
      double[] perCoreSecond = new double[rounds];
      double bytesPerRow = 0;
      double wallRate = 0;
      double setUpShare = 0;
      for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
        Path directory = Files.createTempDirectory(parent, "parquet-bench");
        try {
          ParquetArchive archive = new ParquetArchive(ParquetOptions.in(directory));
          ArchiveWriter writer = archive.open(rejection -> {
            throw new IllegalStateException("refused: " + rejection.code());
          });
          long offset = writer.nextOffset(0); // takes the partition
          long wall = System.nanoTime();
          long cpu = PROCESS.getProcessCpuTime();
          CompilerShare compiler = new CompilerShare();
          write(writer, offset, batches);
          if (round >= 0) {
            perCoreSecond[round] = events * 1e9 / (PROCESS.getProcessCpuTime() - cpu);
            wallRate = Math.max(wallRate, events * 1e9 / (System.nanoTime() - wall));
            setUpShare += compiler.now() / rounds;
          }
          requireAll(archive, events);
          bytesPerRow = (double) size(directory) / events;
        } finally {
          delete(directory);
        }
      }
      Rates.print(name, perCoreSecond, Map.of("bytes_per_row", bytesPerRow, "best_wall_per_s", wallRate,
          "peak_resident_mib", peakResidentMib(), "peak_heap_mib", peakHeapMib(), "set_up_share", setUpShare));
    } catch (IOException e) {
      throw new CommandLine.ExecutionException(new CommandLine(this), e.getMessage(), e);
    }
  }

  /** Writes all batches, publishes them and closes the archive. */
  private static void write(ArchiveWriter writer, long firstOffset, List<byte[]> batches) throws IOException {
    long offset = firstOffset;
    try (writer) {
      for (byte[] batch : batches) {
        writer.append(new Position(0, offset++, 0), batch);
      }
    }
  }

  private static void requireAll(ParquetArchive archive, long events) throws IOException {
    if (archive.counts().count().values().stream().mapToLong(Long::longValue).sum() != events) {
      throw new IllegalStateException("the archive does not hold what was appended");
    }
  }

  private static long peakResidentMib() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
      String line = lines.filter(text -> text.startsWith("VmHWM:")).findFirst().orElseThrow();
      return Long.parseLong(line.replaceAll("\\D", "")) >> 10;
    }
  }

  private static long peakHeapMib() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getType() == MemoryType.HEAP)
        .mapToLong(pool -> pool.getPeakUsage().getUsed()).sum() >> 20;
  }

  static long size(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    }
  }

  static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
