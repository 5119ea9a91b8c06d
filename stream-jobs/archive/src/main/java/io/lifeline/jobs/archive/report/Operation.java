package io.lifeline.jobs.archive.report;

/**
 * One operation on one object: a start event and its end.
 *
 * @param repeat number of this operation among those of the same session, kind and id, from 1
 * @param moved bytes as the event has them; {@code bytes} is the same as a whole number
 */
record Operation(String id, long repeat, Origin origin, long startNs, long endNs, long bytes, double moved) {

  /**
   * Where an operation ran; most operations share few of them.
   *
   * @param actor incarnation and thread
   * @param session null for none
   */
  record Origin(String incarnation, String actor, String session, String program) {}

  long durationNs() {
    return endNs - startNs;
  }
}
