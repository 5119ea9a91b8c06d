package io.lifeline.jobs.kafka;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.Position;
import java.util.function.IntSupplier;

/**
 * Which batches belong into an archive's partition: see {@link BatchPlaces}. The archive goes on when the topic gets
 * more partitions, which emitters may learn before it does. Used by one thread.
 */
final class ArchivePlaces {

  private final IntSupplier partitions;
  private BatchPlaces places;
  private boolean isCurrent;

  /**
   * @param atStart the places when this instance started
   * @param partitions asks for the number of partitions now
   */
  ArchivePlaces(BatchPlaces atStart, IntSupplier partitions) {
    this.places = atStart;
    this.partitions = partitions;
  }

  /** Says that messages were read that the last answer may not hold for. */
  void hasRead() {
    isCurrent = false;
  }

  /** As {@link io.lifeline.jobs.core.Placement#elsewhere}. */
  String elsewhere(Incarnation emitter, Position position) {
    String elsewhere = places.elsewhere(emitter, position);
    if (elsewhere == null || isCurrent) {
      return elsewhere;
    }
    int now = partitions.getAsInt();
    isCurrent = true;
    if (now > places.partitions()) {
      places = places.raisedTo(now);
    }
    return places.elsewhere(emitter, position);
  }
}
