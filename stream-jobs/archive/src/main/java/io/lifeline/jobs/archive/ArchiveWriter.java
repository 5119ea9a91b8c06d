package io.lifeline.jobs.archive;

import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import java.io.IOException;

/**
 * Writes batches into an archive, each exactly once, even if the process crashes.
 *
 * <p>A consumer loop only has to call:
 *
 * <ol>
 *   <li>{@link #nextOffset} for each assigned partition, and seek there (0: the beginning of the partition);
 *   <li>{@link #append} for every message, in order of offset, gaps allowed;
 *   <li>{@link #rollIfDue} at least every second, even if no messages arrive;
 *   <li>{@link #release} when a partition is revoked;
 *   <li>{@link #close} at the end, which stores buffered data.
 * </ol>
 *
 * <p>Positions committed to the broker are ignored: the archive's own end is the position, and data that was appended
 * but not stored is read again after a crash. An exception leaves the archive itself intact. After an {@link
 * ArchiveCollisionException} the consumer stops; after an {@link ArchiveWriteException} it may retry later (when the
 * disk has space again); after any other, such as an {@link ArchiveUnavailableException}, it {@link #abandon}s this
 * writer, opens another and seeks again. Used by one thread.
 */
public interface ArchiveWriter extends AutoCloseable {

  /**
   * Takes the partition and returns its first offset that this writer has not appended. On the first call for a
   * partition this is the first offset that the archive does not hold, 0 if it holds none.
   *
   * @throws ArchiveCollisionException if another writer has it; after a rebalance its former owner may need a moment
   */
  long nextOffset(int partition) throws IOException;

  /**
   * Returns where to start reading, also after each reconnection: {@link #nextOffset}, or one offset before it. {@link
   * #append} compares the message there with the one that was read; a difference means that the source was recreated or
   * has lost its last messages.
   */
  long comparableOffset(int partition) throws IOException;

  /** Takes the partition and returns its first offset that the archive does not hold: all data before it is durable. */
  long durableOffset(int partition) throws IOException;

  /**
   * Appends one message; first rolls if the buffer is full. If that fails, the message is not appended.
   *
   * @param message null counts as empty
   * @param refusal why the host rejects the message; null if it is allowed
   */
  Appended append(Position position, byte[] message, Rejection refusal) throws IOException;

  /** Appends a message that is allowed. */
  default Appended append(Position position, byte[] message) throws IOException {
    return append(position, message, null);
  }

  /**
   * Stores buffered data if the oldest is older than the roll interval; returns whether it did.
   *
   * @param nanoTime value of {@link System#nanoTime}, which is monotonic
   */
  boolean rollIfDue(long nanoTime) throws IOException;

  /**
   * Checks that the positions of the partitions still belong to the current source; storing checks this too.
   *
   * @throws ArchiveException if the source was recreated, see {@link ArchiveFeed#source}
   */
  void checkSources() throws IOException;

  /**
   * Checks that the source still has all messages that were read.
   *
   * @param end first offset after the last message of the source
   * @throws ArchiveException if it has not, now and at each later opening until an operator resumes the archive
   */
  void checkEnd(int partition, long end) throws IOException;

  /** Stores buffered data, and refuses to write the partition until an operator resumes the archive. */
  void refuse(int partition, String why) throws IOException;

  /** Stores buffered data. After a failure it is still buffered. */
  void roll() throws IOException;

  /**
   * Releases the partition without storing its buffered data: the next owner reads it again. Without such data, does
   * what storing has put off; if that fails, releases it anyway.
   */
  void release(int partition) throws IOException;

  /** Returns whether everything appended is stored, including the positions of rejected messages. */
  boolean isStored();

  /** Returns the memory used by buffered events, in bytes; at most the roll size plus one batch. */
  long heldBytes();

  /** Closes without storing buffered data. */
  void abandon() throws IOException;

  /** Stores buffered data and closes; if storing fails, closes anyway. */
  @Override
  void close() throws IOException;
}
