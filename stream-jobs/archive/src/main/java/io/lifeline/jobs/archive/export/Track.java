package io.lifeline.jobs.archive.export;

/**
 * A track of a timeline.
 *
 * @param number from 1
 * @param parent null for a process
 * @param pid number of the process, unique in the trace
 * @param tid number of a thread or lane, unique in the trace; 0 for others
 * @param unit of a counter; empty if it has none
 */
record Track(Kind kind, long number, Track parent, int pid, int tid, String name, String unit) {

  /** What a track shows. A lane has the operations of one name in one thread, one at a time. */
  enum Kind { PROCESS, THREAD, LANE, COUNTER }
}
