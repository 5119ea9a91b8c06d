package io.lifeline.codec;

import java.nio.ByteOrder;

/**
 * Builds a batch. What it is told must be legal, or an {@link IllegalArgumentException} says what is not; it chooses
 * nothing by itself. Without being told it writes a little-endian, uncompressed batch with sequence 1, one calibration
 * (tick 0 at time 0, ticks of a nanosecond), and all counters zero but {@code emitted}, which is the event count.
 */
public final class BatchWriter {
  private static UnsupportedOperationException soon() {
    return new UnsupportedOperationException("signatures only, for now");
  }

  public BatchWriter incarnation(Incarnation value) {
    throw soon();
  }

  public BatchWriter sequence(long value) {
    throw soon();
  }

  public BatchWriter route(int number, String name) {
    throw soon();
  }

  public BatchWriter host(String value) {
    throw soon();
  }

  public BatchWriter program(String value) {
    throw soon();
  }

  public BatchWriter pid(long value) {
    throw soon();
  }

  public BatchWriter byteOrder(ByteOrder value) {
    throw soon();
  }

  public BatchWriter finalBatch(boolean value) {
    throw soon();
  }

  public BatchWriter recovered(boolean value) {
    throw soon();
  }

  public BatchWriter counter(Counter counter, long value) {
    throw soon();
  }

  public BatchWriter context(String key, String value) {
    throw soon();
  }

  /** Adds a calibration; the first one replaces the default. */
  public BatchWriter calibration(long tick, long monotonicNs, long realtimeOffsetNs, long errorNs, boolean step) {
    throw soon();
  }

  /** Describes a type under a number of its own, even if no event follows. */
  public BatchWriter type(int number, EventType type) {
    throw soon();
  }

  /** Starts a thread's run of events; without it events are thread 1's. */
  public BatchWriter thread(long id) {
    throw soon();
  }

  /**
   * Adds an event; a type that was not described yet gets the next free number.
   *
   * @param values one per field: any {@link Number} for numeric fields, Boolean, String (or byte[] for a string that is
   *     no UTF-8), byte[]
   */
  public BatchWriter event(EventType type, long tick, Object... values) {
    throw soon();
  }

  /** The batch, CRC included. */
  public byte[] toByteArray() {
    throw soon();
  }
}
