package io.lifeline.jobs.archive.report;

/**
 * One operation on one object: a start event and its end.
 *
 * @param actor incarnation and thread that ran it
 * @param repeat number of this operation among those of the same kind and id, from 1
 */
record Operation(String id, long repeat, String actor, long startNs, long endNs, long bytes) {
  long durationNs() {
    return endNs - startNs;
  }
}
