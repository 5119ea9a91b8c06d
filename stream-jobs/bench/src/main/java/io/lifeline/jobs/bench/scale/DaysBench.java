package io.lifeline.jobs.bench.scale;

import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.TimeSpan;
import io.lifeline.jobs.archive.parquet.Compactor;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.archive.sql.ArchiveDatabase;
import io.lifeline.jobs.core.Position;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Writes an archive of many days, in each of which many short-lived processes emit, and measures after so many of them
 * what opening it and asking it costs. A roll has an hour, not a minute as that of a job; each day is compacted.
 */
@Command(name = "days-bench", mixinStandardHelpOptions = true, description = "Opens an archive of many days.")
public final class DaysBench implements Runnable {
  private static final MemoryMXBean MEMORY = ManagementFactory.getMemoryMXBean();
  private static final Path IO = Path.of("/proc/self/io");
  private static final long FIRST_NS = 1_790_035_200_000_000_000L; // a midnight
  private static final long HOUR_NS = Duration.ofHours(1).toNanos();
  private static final int HOURS = 24;
  private static final int TYPES = 4;
  private static final int EVENTS = 10;

  @Option(names = "--dir", required = true, description = "the archive's directory, which does not exist yet")
  private Path directory;

  @Option(names = "--days", required = true, split = ",", description = "when to measure, in order")
  private List<Integer> days;

  @Option(names = "--emitters", required = true, description = "processes in a day, each with one batch")
  private int emitters;

  @Option(names = "--runs", defaultValue = "3", description = "of each size, after one that warms up")
  private int runs;

  private final EmitterBatches batches = new EmitterBatches(TYPES, EVENTS);
  private final Map<String, List<Double>> figures = new LinkedHashMap<>();

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new DaysBench()).execute(arguments));
  }

  @Override
  public void run() {
    try {
      int written = 0;
      for (int size : days) {
        write(written, size);
        written = size;
        open(size);
        figures.clear();
        for (int run = 0; run < runs; run++) {
          open(size);
        }
        figures.forEach((name, values) ->
            System.out.println("{\"name\":\"" + name + "." + size + "\",\"values\":" + values + "}"));
      }
    } catch (IOException | SQLException e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  private void write(int firstDay, int endDay) throws IOException {
    ParquetOptions options = ParquetOptions.in(directory).withThreads(1);
    Compactor compactor = new Compactor(options, Compactor.DEFAULT_TARGET_BYTES, Duration.ZERO);
    try (ArchiveWriter writer = new ParquetArchive(options).open(rejection -> {
      throw new IllegalStateException("refused: " + rejection.code());
    })) {
      for (int day = firstDay; day < endDay; day++) {
        writeDay(writer, day);
        compactor.compact();
      }
    }
    compactor.compact(); // removes what was replaced
  }

  private void writeDay(ArchiveWriter writer, int day) throws IOException {
    for (int i = 0; i < emitters; i++) {
      long inDay = (long) i * HOURS * HOUR_NS / emitters;
      long timeNs = FIRST_NS + day * HOURS * HOUR_NS + inDay;
      int emitter = day * emitters + i;
      if (i > 0 && inDay / HOUR_NS != (i - 1L) * HOURS / emitters) {
        writer.roll();
      }
      writer.append(new Position(0, emitter, timeNs / 1_000_000), batches.batch(emitter, 0, timeNs, true));
    }
    writer.roll();
  }

  /** Opens the archive, and asks for an hour in its middle, and for the ledger. */
  private void open(int size) throws IOException, SQLException {
    long before = liveHeap();
    long start = System.nanoTime();
    try (ArchiveDatabase archive = ArchiveDatabase.open(directory)) {
      note("open", secondsSince(start));
      note("heap", (liveHeap() - before) / 1e6);
      long fromNs = FIRST_NS + (size / 2 * HOURS + HOURS / 2) * HOUR_NS;
      long bytes = bytesRead();
      start = System.nanoTime();
      String hour = archive.eventsOf(EmitterBatches.typeName(0), new TimeSpan(fromNs, fromNs + HOUR_NS - 1));
      expect((double) emitters / HOURS * EVENTS / TYPES,
          number(archive, "SELECT count(ms + nbytes) FROM " + hour + " e"));
      note("hour", secondsSince(start));
      note("read", 100.0 * (bytesRead() - bytes) / (dataBytes() / size));
      start = System.nanoTime();
      expect((double) emitters * size, number(archive, "SELECT count(*) FROM ledger WHERE missing = 0"));
      note("ledger", secondsSince(start));
    }
  }

  private void note(String name, double value) {
    figures.computeIfAbsent(name, key -> new ArrayList<>()).add(value);
  }

  private static double secondsSince(long startNs) {
    return (System.nanoTime() - startNs) / 1e9;
  }

  private static long liveHeap() {
    MEMORY.gc();
    return MEMORY.getHeapMemoryUsage().getUsed();
  }

  /** An hour has a few more or fewer than a day's share. */
  private static void expect(double count, long found) {
    if (Math.abs(found - count) > 1 + count / 50) {
      throw new IllegalStateException("the archive has " + found + " where " + count + " were expected");
    }
  }

  private static long number(ArchiveReader archive, String sql) throws SQLException {
    try (PreparedStatement query = archive.prepare(sql); ResultSet row = query.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  /** Returns the bytes that this process has read, from the disk or the page cache. */
  private static long bytesRead() throws IOException {
    try (Stream<String> lines = Files.lines(IO)) {
      return lines.filter(line -> line.startsWith("rchar:")).mapToLong(line -> Long.parseLong(line.substring(7)))
          .findFirst().orElseThrow();
    }
  }

  private long dataBytes() throws IOException {
    try (Stream<Path> files = Files.list(directory.resolve("data"))) {
      return files.mapToLong(file -> file.toFile().length()).sum();
    }
  }
}
