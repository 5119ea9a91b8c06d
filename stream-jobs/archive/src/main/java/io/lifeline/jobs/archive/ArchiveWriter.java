package io.lifeline.jobs.archive;

import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import java.io.IOException;

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
 * but not yet rolled is read again after a crash. An exception leaves the archive itself sound. After an {@link
 * ArchiveCollisionException} the consumer stops; after an {@link ArchiveWriteException} it may call again later (a full
 * disk that was cleared); after any other, such as an {@link ArchiveUnavailableException}, it {@link #abandon}s this
 * writer, opens another and seeks anew. Used by one thread.
 */
public interface ArchiveWriter extends AutoCloseable {

  /**
   * The first offset of the partition that this writer has not taken yet; on the first call for a partition, the first
   * that the archive does not hold: 0 if it holds none. Takes the partition.
   *
   * @throws ArchiveCollisionException if another writer has it; after a rebalance its former owner may need a moment
   */
  long nextOffset(int partition) throws IOException;

  /**
   * Where to begin to read, for those who cannot tell what their offsets count in: {@link #nextOffset}, or one before
   * it. The message there is compared with the one that was archived, and what differs was made anew.
   */
  long comparableOffset(int partition) throws IOException;

  /**
   * The first offset of the partition that the archive does not hold: what lies before it survives this process. Takes
   * the partition.
   */
  long durableOffset(int partition) throws IOException;

  /**
   * Takes one message; first rolls if what is held has reached its limit. When that fails the message is not taken.
   *
   * @param message null counts as empty
   * @param refusal why the host does not allow it; null if it does
   */
  Appended append(Position position, byte[] message, Rejection refusal) throws IOException;

  /** As above, of a message that is allowed. */
  default Appended append(Position position, byte[] message) throws IOException {
    return append(position, message, null);
  }

  /**
   * Stores what is held when the oldest of it is older than the roll interval; says whether it did.
   *
   * @param nanoTime of {@link System#nanoTime}, which nobody sets back
   */
  boolean rollIfDue(long nanoTime) throws IOException;

  /**
   * Makes sure that the positions of the partitions still belong to what is read; so does each storing.
   *
   * @throws ArchiveException if one was made anew, see {@link ArchiveFeed#source}
   */
  void checkSources() throws IOException;

  /** Stores what is held. After a failure it is still held. */
  void roll() throws IOException;

  /** Gives the partition up without storing what is held of it: its next owner reads that again. */
  void release(int partition) throws IOException;

  /** Whether all that was taken is stored. What was refused holds no memory, but its position waits as well. */
  boolean isStored();

  /** Memory held for events, in bytes; at most the roll bytes and what one batch adds. */
  long heldBytes();

  /** Closes without storing what is held. */
  void abandon() throws IOException;

  /** Stores what is held and closes; when it cannot store, closes all the same. */
  @Override
  void close() throws IOException;
}
