package io.lifeline.jobs.archive;

import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.RouteKey;

/**
 * A batch whose sequence is archived; only the archive itself can tell whether the archived batch has the same bytes.
 */
public final class LateBatch {
  private final PartitionWriter holder;
  private final Position position;
  private final RouteKey route;
  private final long sequence;
  private final int crc;
  private boolean found;
  private boolean contradicts;

  /** @param holder writer of the partition that has the sequence, usually that of the position */
  LateBatch(PartitionWriter holder, Position position, RouteKey route, long sequence, int crc) {
    this.holder = holder;
    this.position = position;
    this.route = route;
    this.sequence = sequence;
    this.crc = crc;
  }

  public RouteKey route() {
    return route;
  }

  public long sequence() {
    return sequence;
  }

  PartitionWriter holder() {
    return holder;
  }

  Position position() {
    return position;
  }

  /**
   * Records the archived checksum.
   *
   * @param archived the checksum, as an unsigned number; null if it was archived by an earlier release without
   *     checksums
   */
  public void found(Long archived) {
    found = true;
    contradicts |= archived != null && archived.intValue() != crc;
  }

  boolean isFound() {
    return found;
  }

  boolean contradicts() {
    return contradicts;
  }
}
