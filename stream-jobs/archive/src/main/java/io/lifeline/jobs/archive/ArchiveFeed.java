package io.lifeline.jobs.archive;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import java.io.IOException;

/** The source of an archive's messages. Called on the thread that appends. */
@FunctionalInterface
public interface ArchiveFeed {

  /**
   * Summary of data that was stored atomically.
   *
   * @param batches number of new batches, with this many events
   * @param duplicates duplicates absorbed
   * @param rejected messages rejected
   */
  record Stored(int partition, long batches, long events, long duplicates, long rejected) {}

  /**
   * Receives each invalid or conflicting message; called again after a crash before the message's position was stored.
   */
  void reject(Rejection rejection);

  /**
   * Called before data is stored; if it fails, nothing is stored. Implementations make pending rejections durable here.
   */
  default void beforeStoring() throws IOException {}

  /**
   * Returns the current identity of the partition's source, such as the topic ID; null if unknown. Called when a
   * partition is taken and before any of its data is stored, so that no position outlives its topic.
   *
   * @throws IOException if the identity cannot be determined now
   */
  default String source(int partition) throws IOException {
    return null;
  }

  /**
   * Returns where the emitter's batches belong instead; null if they belong to the position's partition. Writers do not
   * know what others have stored, so a batch that was copied to several of them would be stored by each.
   *
   * @throws IOException if it cannot be determined now
   */
  default String elsewhere(Incarnation emitter, Position position) throws IOException {
    return null;
  }

  /** Called after data was stored. */
  default void stored(Stored what) {}
}
