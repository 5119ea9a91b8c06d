package io.lifeline.jobs.bench.streams;

import io.lifeline.jobs.bench.Backlog.Event;

/** How a single event is written and read where every event is a message of its own. Used by one thread. */
interface Format {

  byte[] encode(Event event);

  /** Null if it is of the type that the filter leaves out; then no more is read than it takes to know. */
  Event decodeSelected(byte[] message);
}
