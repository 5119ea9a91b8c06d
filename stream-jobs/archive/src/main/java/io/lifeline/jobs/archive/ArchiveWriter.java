package io.lifeline.jobs.archive;

import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import java.io.IOException;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Writes batches into an archive, each exactly once, however often the process dies.
 *
 * <p>A consumer loop does no more than this:
 *
 * <ol>
 *   <li>{@link #nextOffset} for each partition that it is given, and seeks there (0: from the partition's beginning);
 *   <li>{@link #append} for every message, in order of offset, gaps allowed;
 *   <li>{@link #rollIfDue} at least every second, also when nothing arrives;
 *   <li>{@link #release} when a partition is taken away;
 *   <li>{@link #close} at the end, which rolls what is held.
 * </ol>
 *
 * <p>Positions committed to the broker mean nothing here: the archive's own end is the position, and what was appended
 * but not yet rolled is read again after a crash. An exception leaves the archive on disk sound. After an {@link
 * ArchiveCollisionException} the consumer stops; after any other it may call again later (a full disk that was
 * cleared), or {@link #abandon} this writer and open another. Used by one thread.
 */
public final class ArchiveWriter implements AutoCloseable {
  /** For what DuckDB holds while it encodes, besides what grows with a roll. */
  private static final long DUCKDB_BYTES = 512L << 20;

  private final ArchiveOptions options;
  private final ArchiveDirectory directory;
  private final Consumer<Rejection> rejections;
  private final Consumer<PublicationStep> progress;
  private final DuckTables duck;
  private final Map<Integer, PartitionWriter> partitions = new TreeMap<>();

  private ArchiveWriter(
      ArchiveOptions options, Consumer<Rejection> rejections, Consumer<PublicationStep> progress) throws IOException {
    this.options = options;
    this.directory = new ArchiveDirectory(options.directory());
    this.rejections = rejections;
    this.progress = progress;
    directory.create();
    this.duck = new DuckTables(options.threads(), DUCKDB_BYTES + 4 * options.rollBytes());
  }

  /**
   * Opens or makes the archive.
   *
   * @param rejections told of each message that is no legal batch or contradicts an earlier one, on the thread that
   *     appends; told again after a crash before the roll
   */
  public static ArchiveWriter open(ArchiveOptions options, Consumer<Rejection> rejections) throws IOException {
    return open(options, rejections, step -> {});
  }

  static ArchiveWriter open(
      ArchiveOptions options, Consumer<Rejection> rejections, Consumer<PublicationStep> progress) throws IOException {
    return new ArchiveWriter(options, rejections, progress);
  }

  /**
   * The first offset of the partition that the archive does not hold; 0 if it holds none. Takes the partition.
   *
   * @throws ArchiveCollisionException if another writer has it; after a rebalance its former owner may need a moment
   */
  public long nextOffset(int partition) throws IOException {
    return partition(partition).nextOffset();
  }

  /**
   * Takes one message; first rolls if the columns held have reached their limit. When that fails the message is not
   * taken.
   */
  public Appended append(Position position, byte[] message) throws IOException {
    while (heldBytes() >= options.rollBytes()) {
      largest().roll();
    }
    return partition(position.partition()).append(position, message);
  }

  /** Publishes what is held when the oldest of it is older than the roll interval; says whether it did. */
  public boolean rollIfDue(long nowMs) throws IOException {
    boolean rolled = false;
    for (PartitionWriter writer : partitions.values()) {
      writer.forgetSilentEmitters(nowMs);
      if (writer.isDue(nowMs)) {
        writer.roll();
        rolled = true;
      }
    }
    return rolled;
  }

  /** Publishes what is held now. */
  public void roll() throws IOException {
    for (PartitionWriter writer : partitions.values()) {
      writer.roll();
    }
  }

  /** Gives the partition up without publishing what is held of it: its next owner reads that again. */
  public void release(int partition) throws IOException {
    PartitionWriter writer = partitions.remove(partition);
    if (writer != null) {
      writer.close();
    }
  }

  /** Memory held in columns, in bytes; at most the roll bytes and what one batch adds. */
  public long heldBytes() {
    return partitions.values().stream().mapToLong(PartitionWriter::bytes).sum();
  }

  /** Closes without publishing what is held. */
  public void abandon() throws IOException {
    try {
      for (PartitionWriter writer : partitions.values()) {
        writer.close();
      }
    } finally {
      partitions.clear();
      duck.close();
    }
  }

  /** Publishes what is held and closes; when it cannot publish, closes all the same. */
  @Override
  public void close() throws IOException {
    try {
      roll();
    } finally {
      abandon();
    }
  }

  private PartitionWriter partition(int partition) throws IOException {
    PartitionWriter writer = partitions.get(partition);
    if (writer == null) {
      writer = new PartitionWriter(partition, options, directory, duck, rejections, progress);
      partitions.put(partition, writer);
    }
    return writer;
  }

  private PartitionWriter largest() {
    return partitions.values().stream().max(Comparator.comparingLong(PartitionWriter::bytes)).orElseThrow();
  }
}
