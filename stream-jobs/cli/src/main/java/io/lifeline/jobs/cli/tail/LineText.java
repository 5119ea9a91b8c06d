package io.lifeline.jobs.cli.tail;

import io.lifeline.jobs.archive.ArchivedEvent;

/** Text of an event. */
@FunctionalInterface
interface LineText {

  /** Appends the event, with the end of its line. */
  void append(StringBuilder to, ArchivedEvent event);
}
