package io.lifeline.jobs.kafka;

/**
 * What one of the archive's loops in a process reads: each so-many-th partition, so that every loop has as many as the
 * others, and a partition is the same loop's for ever.
 *
 * @param number from 0
 */
record ArchiveShare(int number, int loops) {

  static final ArchiveShare WHOLE = new ArchiveShare(0, 1);

  boolean has(int partition) {
    return partition % loops == number;
  }

  /** Returns the name of the loop, of its thread and of its clients. */
  String name() {
    return loops == 1 ? ArchiveLoop.NAME : ArchiveLoop.NAME + "-" + number;
  }
}
