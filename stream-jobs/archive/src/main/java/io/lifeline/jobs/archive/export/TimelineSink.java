package io.lifeline.jobs.archive.export;

import io.lifeline.jobs.archive.ArchivedEvent;
import java.io.IOException;

/** Writes a timeline in a format. What it is told happens at the time of the {@link TraceClock}. */
interface TimelineSink {

  /** Describes a track, before its first use and after its parent. */
  void declare(Track track) throws IOException;

  /**
   * Begins a slice on a lane.
   *
   * @param flow number of the event's lifeline; 0 for none
   */
  void begin(Track lane, ArchivedEvent start, long flow) throws IOException;

  /**
   * Ends the slice on a lane.
   *
   * @param end null if the end was not found
   */
  void end(Track lane, ArchivedEvent end) throws IOException;

  /** Marks a moment. */
  void instant(Track track, ArchivedEvent event, long flow) throws IOException;

  /** Sets a counter to the value of a member: a finite number. */
  void count(Track counter, ArchivedEvent event, int member) throws IOException;

  /** Completes the output. */
  void finish() throws IOException;
}
