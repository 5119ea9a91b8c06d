package io.lifeline.jobs.archive;

import io.lifeline.jobs.core.ledger.ArchivedEvents;
import java.io.IOException;

/**
 * A place where events are kept for SQL, with what is known of where they came from. It belongs to one topic or stream.
 *
 * <p>Every implementation guarantees, and {@code ArchiveContract} tests:
 *
 * <ol>
 *   <li>Events and the position up to which messages were taken become part of the archive together, or not at all:
 *       after a death at any moment {@link ArchiveWriter#nextOffset} tells exactly what is there.
 *   <li>A batch is stored once, however often and at whatever positions it comes.
 *   <li>The same sequence with other bytes is a conflict, however late it comes.
 *   <li>No message stops the archive: what is no legal batch, or contradicts an earlier one, is reported and passed by.
 *   <li>Two writers cannot both store the same partition; the later one gets an {@link ArchiveCollisionException}.
 *   <li>What cannot be stored now (a full disk, a server that is away) is an error that says what to do, and nothing is
 *       lost by it.
 * </ol>
 *
 * <p>An archive object is only a description; it may be shared between threads.
 */
public interface Archive {

  /** Opens the archive for writing, or makes it. */
  ArchiveWriter open(ArchiveFeed feed) throws IOException;

  /** Counts what the archive holds; none while it does not exist. Each counter is used by one thread. */
  ArchivedEvents counts();

  /** Which archive this is: the same text for whoever writes to the same one. Holds no secret. */
  String name();
}
