package io.lifeline.jobs.archive;

import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import java.io.IOException;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/** An {@link ArchiveWriter} over the {@link PartitionWriter}s of an implementation. */
public final class PartitionedWriter implements ArchiveWriter {
  private static final byte[] NO_BYTES = new byte[0];

  private final RollOptions options;
  private final Backend backend;
  private final Map<Integer, PartitionWriter> partitions = new TreeMap<>();
  private boolean closed;

  /** The storage-specific part of a writer. */
  public interface Backend {
    /** Takes exclusive ownership of a partition, and finds the archive's end. */
    PartitionWriter take(int partition) throws IOException;

    /** Returns whether partitions can store data in the background while they buffer more. */
    default boolean storesAhead() {
      return false;
    }

    /** Closes resources shared by the partitions. Called once, after all of them are closed. */
    void close() throws IOException;
  }

  public PartitionedWriter(RollOptions options, Backend backend) {
    this.options = options;
    this.backend = backend;
  }

  @Override
  public long nextOffset(int partition) throws IOException {
    return partition(partition).to();
  }

  @Override
  public long comparableOffset(int partition) throws IOException {
    return partition(partition).comparableOffset();
  }

  @Override
  public long durableOffset(int partition) throws IOException {
    return partition(partition).stored();
  }

  @Override
  public Appended append(Position position, byte[] message, Rejection refusal) throws IOException {
    makeRoom();
    return partition(position.partition()).append(position, message == null ? NO_BYTES : message, refusal,
        partitions.values());
  }

  /** Half of the memory is for buffered events, the other half for those being stored in the background. */
  private void makeRoom() throws IOException {
    if (backend.storesAhead() && sum(PartitionWriter::collectedBytes) >= options.bytes() / 2) {
      largest(PartitionWriter::collectedBytes).rollAhead();
    }
    while (heldBytes() >= options.bytes()) {
      largest(PartitionedWriter::heldBytes).makeRoom();
    }
  }

  @Override
  public boolean rollIfDue(long nanoTime) throws IOException {
    boolean rolled = false;
    for (PartitionWriter writer : partitions.values()) {
      writer.forgetSilentEmitters(nanoTime);
      if (writer.isDue(nanoTime)) {
        writer.roll();
        rolled = true;
      }
      writer.catchUpIfDue(nanoTime);
    }
    return rolled;
  }

  @Override
  public void checkSources() throws IOException {
    for (PartitionWriter writer : partitions.values()) {
      writer.checkSource();
    }
  }

  @Override
  public void checkEnd(int partition, long end) throws IOException {
    partition(partition).checkEnd(end);
  }

  @Override
  public void refuse(int partition, String why) throws IOException {
    partition(partition).refuse(why);
  }

  @Override
  public void roll() throws IOException {
    for (PartitionWriter writer : partitions.values()) {
      writer.roll();
    }
  }

  @Override
  public void release(int partition) throws IOException {
    PartitionWriter writer = partitions.remove(partition);
    if (writer != null) {
      try {
        if (writer.isStored()) {
          writer.catchUp(); // the next owner may come late or never
        }
      } finally {
        writer.close();
      }
    }
  }

  @Override
  public boolean isStored() {
    return partitions.values().stream().allMatch(PartitionWriter::isStored);
  }

  @Override
  public long heldBytes() {
    return sum(PartitionedWriter::heldBytes);
  }

  @Override
  public void abandon() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    try {
      for (PartitionWriter writer : partitions.values()) {
        writer.close();
      }
    } finally {
      partitions.clear();
      backend.close();
    }
  }

  @Override
  public void close() throws IOException {
    try {
      for (PartitionWriter writer : partitions.values()) {
        writer.catchUp();
      }
    } finally {
      abandon();
    }
  }

  private PartitionWriter partition(int partition) throws IOException {
    PartitionWriter writer = partitions.get(partition);
    if (writer == null) {
      writer = backend.take(partition);
      try {
        writer.checkSource();
      } catch (IOException | RuntimeException e) {
        writer.close();
        throw e;
      }
      partitions.put(partition, writer);
    }
    return writer;
  }

  /** Returns the number of routes of which more than a few bytes are in memory. */
  int routesInMemory() {
    return (int) sum(PartitionWriter::routesInMemory);
  }

  private static long heldBytes(PartitionWriter writer) {
    return writer.collectedBytes() + writer.storingBytes();
  }

  private long sum(ToLongFunction<PartitionWriter> bytes) {
    return partitions.values().stream().mapToLong(bytes).sum();
  }

  private PartitionWriter largest(ToLongFunction<PartitionWriter> bytes) {
    return partitions.values().stream().max(Comparator.comparingLong(bytes)).orElseThrow();
  }
}
