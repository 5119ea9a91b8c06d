package io.lifeline.jobs.archive;

import io.lifeline.jobs.core.ledger.ArchivedEvents;
import java.io.IOException;
import java.util.List;

/**
 * Stores events for SQL queries, together with their origin. An archive belongs to one topic or stream.
 *
 * <p>Every implementation guarantees, and {@code ArchiveContract} tests:
 *
 * <ol>
 *   <li>Events and the position up to which messages were read are stored atomically: after a crash at any moment
 *       {@link ArchiveWriter#nextOffset} is exact.
 *   <li>A batch is stored once, however often and at whatever positions it arrives.
 *   <li>The same sequence with other bytes is a conflict, however late it arrives.
 *   <li>No message stops the archive: invalid and conflicting batches are reported and skipped.
 *   <li>Two writers cannot both store the same partition; the later one gets an {@link ArchiveCollisionException}.
 *   <li>If storing fails (full disk, unreachable server), the error names the remedy and nothing is lost.
 * </ol>
 *
 * <p>An archive object is only a description; it may be shared between threads.
 */
public interface Archive {

  /** Opens the archive for writing; creates it if it does not exist. */
  ArchiveWriter open(ArchiveFeed feed) throws IOException;

  /**
   * Returns the archive for one of several writers in a process, on a thread each: together they use the memory of one,
   * and what needs no more than one of them, such as merging files, the first one does.
   *
   * @param writer from 0
   */
  Archive share(int writer, int writers);

  /**
   * Returns a counter of archived events, which finds none while the archive does not exist. Use each counter from one
   * thread.
   */
  ArchivedEvents counts();

  /**
   * Lets jobs write the partitions again that they {@link ArchiveWriter#refuse refused} to write.
   *
   * @param acceptingLoss whether they continue at the old offset without comparing the last message; otherwise they
   *     compare it once more
   * @return the partitions, each with the reason of the refusal
   */
  List<String> resume(boolean acceptingLoss) throws IOException;

  /** Returns what the last maintenance found damaged, a sentence each. */
  default List<String> damages() {
    return List.of();
  }

  /** Returns the identity of the archive: the same text for all writers to one archive. Contains no secret. */
  String name();
}
