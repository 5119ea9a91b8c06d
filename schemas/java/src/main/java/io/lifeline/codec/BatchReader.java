package io.lifeline.codec;

import java.util.List;
import java.util.Map;

/**
 * Reads batches (schemas/FORMAT.md) of any byte order, one at a time. {@link #read} checks everything; afterwards
 * nothing can fail, and iterating allocates nothing but the strings and byte arrays that are asked for.
 *
 * <p>Reusable and not thread-safe. The array given to {@link #read} must not change while the batch is looked at.
 */
public final class BatchReader {
  /** The largest batch, in bytes. */
  public static final int MAX_BATCH_BYTES = 960_000;

  private static UnsupportedOperationException soon() {
    return new UnsupportedOperationException("signatures only, for now");
  }

  /**
   * Checks one message and makes it the current batch, positioned before its first event.
   *
   * @throws RejectedBatchException if the message is not one legal batch; the reader then holds none
   */
  public BatchReader read(byte[] bytes, int offset, int length) throws RejectedBatchException {
    throw soon();
  }

  /** Whether this is the last batch of its (incarnation, route), so that its counters are final. */
  public boolean isFinal() {
    throw soon();
  }

  /** Whether a recovery wrote this batch, after the emitter's death. */
  public boolean isRecovered() {
    throw soon();
  }

  /** Whether the tick jumped without explanation. */
  public boolean isClockUncertain() {
    throw soon();
  }

  /** Whether a filter made this batch from another one. */
  public boolean isDerived() {
    throw soon();
  }

  public int flags() {
    throw soon();
  }

  public Incarnation incarnation() {
    throw soon();
  }

  /** Counts the batches of the (incarnation, route) from 1; unsigned. */
  public long sequence() {
    throw soon();
  }

  public int route() {
    throw soon();
  }

  public String routeName() {
    throw soon();
  }

  public String host() {
    throw soon();
  }

  public String program() {
    throw soon();
  }

  public long pid() {
    throw soon();
  }

  public int eventCount() {
    throw soon();
  }

  /** The batch's CRC-32C: tells a repeat from a conflict. */
  public int crc() {
    throw soon();
  }

  /** The counter's value when the batch was sealed; unsigned. */
  public long counter(Counter counter) {
    throw soon();
  }

  /** Key/value text that holds for the whole batch; of a repeated key the last value. */
  public Map<String, String> context() {
    throw soon();
  }

  /** The types that the batch describes, in its order; some may have no events. */
  public List<EventType> types() {
    throw soon();
  }

  /** Goes back to before the first event. */
  public void rewind() {
    throw soon();
  }

  /** Goes to the next event; false when there is none. */
  public boolean next() {
    throw soon();
  }

  /** The current event's type. */
  public EventType type() {
    throw soon();
  }

  /** The number by which this batch calls the current event's type. */
  public int typeNumber() {
    throw soon();
  }

  /** The current event's place in its batch, counted from 0. */
  public int eventIndex() {
    throw soon();
  }

  /** The current event's full tick; unsigned. */
  public long tick() {
    throw soon();
  }

  /** When the current event was emitted, in nanoseconds since the Unix epoch (FORMAT section 7). */
  public long timeNs() {
    throw soon();
  }

  /** The kernel's id of the thread that emitted the current event. */
  public long thread() {
    throw soon();
  }

  /** The value of a field of type i32, i64, u32, u64 (its bits) or bool (0 or 1). */
  public long getLong(int field) {
    throw soon();
  }

  /** The value of a field of type f32 or f64. */
  public double getDouble(int field) {
    throw soon();
  }

  /** The value of a field of type bool. */
  public boolean getBoolean(int field) {
    throw soon();
  }

  /** The value of a field of type string; bytes that are no UTF-8 come as U+FFFD each. */
  public String getString(int field) {
    throw soon();
  }

  /** A copy of the value of a field of type string or bytes. */
  public byte[] getBytes(int field) {
    throw soon();
  }

  /** Where the field's value starts in {@link #raw()}; of strings and bytes, behind their count. */
  public int valueOffset(int field) {
    throw soon();
  }

  /** How many bytes the field's value has. */
  public int valueLength(int field) {
    throw soon();
  }

  /** The array that holds the events of the current batch; not to be changed. */
  public byte[] raw() {
    throw soon();
  }
}
