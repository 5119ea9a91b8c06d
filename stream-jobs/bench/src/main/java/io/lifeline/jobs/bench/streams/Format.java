package io.lifeline.jobs.bench.streams;

import io.lifeline.jobs.bench.Backlog.Event;

/** Encodes and decodes single events, for one message per event. Used by one thread. */
interface Format {

  byte[] encode(Event event);

  /** Returns null for the type that the filter leaves out; a format may then stop after reading the type. */
  Event decodeSelected(byte[] message);
}
