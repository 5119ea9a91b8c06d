package io.lifeline.jobs.core;

import io.lifeline.codec.Incarnation;

/**
 * Says which batches belong to a task: FORMAT.md, section 12. Tasks do not know what the others have seen, so a batch
 * that was copied to several of them would count in each.
 */
@FunctionalInterface
public interface Placement {

  /** For a task that reads all batches. */
  Placement ANYWHERE = (emitter, position) -> null;

  /** Returns where the emitter's batches belong instead; null if they belong to this task. */
  String elsewhere(Incarnation emitter, Position position);
}
