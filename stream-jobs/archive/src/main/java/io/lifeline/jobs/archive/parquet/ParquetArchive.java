package io.lifeline.jobs.archive.parquet;

import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.ArchiveFeed;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.PartitionWriter;
import io.lifeline.jobs.archive.PartitionedWriter;
import io.lifeline.jobs.core.ledger.ArchivedEvents;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/** A directory of Parquet files, written through DuckDB. */
public final class ParquetArchive implements Archive {
  /** Memory for DuckDB's encoder, in addition to the part that grows with a roll. */
  private static final long DUCKDB_BYTES = 512L << 20;

  /** The least for each of several writers. */
  private static final long LEAST_DUCKDB_BYTES = 256L << 20;

  private final ParquetOptions options;
  private final long duckDbBytes;

  /** When maintenance is due: a writer that is opened again and again, as on a full disk, must not put it off. */
  private final AtomicLong maintenanceNs;

  /** Id of the archive that this process found first: later ones at the same path are not written to. */
  private final AtomicReference<String> id;

  /** What the last maintenance found damaged. */
  private final AtomicReference<List<String>> damages;

  public ParquetArchive(ParquetOptions options) {
    this(options, DUCKDB_BYTES, new AtomicReference<>(), new AtomicReference<>(List.of()));
  }

  private ParquetArchive(ParquetOptions options, long encoderBytes, AtomicReference<String> id,
      AtomicReference<List<String>> damages) {
    this.id = id;
    this.damages = damages;
    this.options = options;
    this.duckDbBytes = encoderBytes + 4 * options.roll().bytes();
    this.maintenanceNs = new AtomicLong(System.nanoTime() + Maintenance.intervalNs(options));
  }

  @Override
  public Archive share(int writer, int writers) {
    ParquetOptions divided = options.withRoll(options.roll().dividedBy(writers));
    return new ParquetArchive(
        writer == 0 ? divided : divided.withCompacting(false).withRetention(null),
        Math.max(LEAST_DUCKDB_BYTES, DUCKDB_BYTES / writers), id, damages);
  }

  @Override
  public ArchiveWriter open(ArchiveFeed feed) throws IOException {
    return open(feed, step -> {});
  }

  ArchiveWriter open(ArchiveFeed feed, Consumer<PublicationStep> progress) throws IOException {
    return new PartitionedWriter(options.roll(), new Partitions(this, feed, progress));
  }

  @Override
  public ArchivedEvents counts() {
    return new ManifestCounts(options.directory());
  }

  @Override
  public List<String> resume(boolean acceptingLoss) throws IOException {
    ArchiveDirectory directory = new ArchiveDirectory(options.directory());
    directory.requireId();
    List<String> resumed = new ArrayList<>();
    for (int partition : directory.refused()) {
      try (WriterLock lock = directory.lock("partition-" + partition, "partition " + partition)) {
        String refusal = directory.refusal(partition);
        if (!PartitionWriter.isRefusal(refusal)) {
          continue;
        }
        if (acceptingLoss) {
          directory.refuse(partition, PartitionWriter.accepted(Manifests.end(directory, partition)));
        } else {
          directory.resume(partition);
        }
        resumed.add("partition " + partition + ": " + refusal);
      }
    }
    return resumed;
  }

  @Override
  public List<String> damages() {
    return damages.get();
  }

  @Override
  public String name() {
    return options.directory().toAbsolutePath().normalize().toString();
  }

  /** Resources shared by the partitions of one writer: the directory and DuckDB. */
  private static final class Partitions implements PartitionedWriter.Backend {
    private final ParquetOptions options;
    private final ArchiveDirectory directory;
    private final ArchiveFeed feed;
    private final Consumer<PublicationStep> progress;
    private final DuckTables duck;
    private final Maintenance maintenance;

    Partitions(ParquetArchive archive, ArchiveFeed feed, Consumer<PublicationStep> progress) throws IOException {
      this.options = archive.options;
      this.directory = new ArchiveDirectory(options.directory());
      this.feed = feed;
      this.progress = progress;
      directory.open(archive.id.get());
      archive.id.compareAndSet(null, directory.requireId());
      this.duck = new DuckTables(options.threads(), archive.duckDbBytes);
      this.maintenance = Maintenance.isNeeded(options)
          ? new Maintenance(options, archive.maintenanceNs, archive.id.get(), archive.damages) : null;
    }

    @Override
    public PartitionWriter take(int partition) throws IOException {
      return new ParquetPartition(partition, options, directory, duck, feed, progress);
    }

    @Override
    public void close() {
      if (maintenance != null) {
        maintenance.close();
      }
      duck.close();
    }
  }
}
