package io.lifeline.jobs.archive;

import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import java.io.IOException;
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
 * but not yet rolled is read again after a crash. Any exception except a rejection leaves the archive on disk sound; the
 * consumer closes this writer with {@link #abandon}, and opens another to try again from the archive's end. A collision
 * is not to be tried again. Used by one thread.
 */
public final class ArchiveWriter implements AutoCloseable {

  private ArchiveWriter() {}

  /** Opens or makes the archive. */
  public static ArchiveWriter open(ArchiveOptions options, Consumer<Rejection> rejections) throws IOException {
    throw new UnsupportedOperationException("under construction");
  }

  /** The first offset of the partition that the archive does not hold; 0 if it holds none. Takes the partition. */
  public long nextOffset(int partition) throws IOException {
    throw new UnsupportedOperationException("under construction");
  }

  /** Takes one message; rolls when the columns held reach their limit. */
  public Appended append(Position position, byte[] message) throws IOException {
    throw new UnsupportedOperationException("under construction");
  }

  /** Publishes what is held when the oldest of it is older than the roll interval; says whether it did. */
  public boolean rollIfDue(long nowMs) throws IOException {
    throw new UnsupportedOperationException("under construction");
  }

  /** Publishes what is held now. */
  public void roll() throws IOException {
    throw new UnsupportedOperationException("under construction");
  }

  /** Gives the partition up without publishing what is held of it: its next owner reads that again. */
  public void release(int partition) throws IOException {
    throw new UnsupportedOperationException("under construction");
  }

  /** Closes without publishing what is held. */
  public void abandon() {
    throw new UnsupportedOperationException("under construction");
  }

  /** Publishes what is held and closes. */
  @Override
  public void close() throws IOException {
    throw new UnsupportedOperationException("under construction");
  }
}
