package io.lifeline.jobs.archive.report;

/**
 * One operation on one object: a start event and its end.
 *
 * @param actor who did it: incarnation and thread
 * @param repeat counts the operations of the same kind on the same id, from 1
 */
record Operation(String id, long repeat, String actor, long startNs, long endNs, long bytes) {
  long durationNs() {
    return endNs - startNs;
  }
}
