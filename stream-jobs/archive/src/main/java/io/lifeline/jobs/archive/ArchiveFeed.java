package io.lifeline.jobs.archive;

import io.lifeline.jobs.core.Rejection;
import java.io.IOException;

/** Who hands messages to an archive. Called on the thread that appends. */
@FunctionalInterface
public interface ArchiveFeed {

  /**
   * What became part of the archive at once.
   *
   * @param batches that were new, with this many events
   * @param duplicates repeats that were absorbed
   * @param rejected messages that were refused
   */
  record Stored(int partition, long batches, long events, long duplicates, long rejected) {}

  /**
   * Told of each message that is no legal batch or contradicts an earlier one; told again after a crash before the
   * message's position was stored.
   */
  void reject(Rejection rejection);

  /**
   * Called before anything is stored; when it fails nothing is. Here rejections become durable that are on their
   * way.
   */
  default void beforeStoring() throws IOException {}

  /**
   * What the partition's offsets count in as of now, such as the topic's id; null where nobody can tell. Asked when a
   * partition is taken and before anything of it is stored, so that no position outlives its topic.
   *
   * @throws IOException if it cannot be found out now
   */
  default String source(int partition) throws IOException {
    return null;
  }

  /** Called when something was stored. */
  default void stored(Stored what) {}
}
