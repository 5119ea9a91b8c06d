package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.ColumnarBatch;
import java.util.List;
import java.util.Optional;

/** The columns of an event type's rows beyond those that every table has. */
interface TypeColumns {
  /** Returns their names, in order. */
  List<String> names();

  /** Returns the length of each column's values in bytes; empty if any of them varies, and with {@link #put} only. */
  default Optional<List<Integer>> lengths() {
    return Optional.empty();
  }

  /** Starts with the events of a batch. */
  void start(ColumnarBatch.Columns events);

  /** Writes a value for each of the columns. */
  void put(int event, CopyBuffer out);

  /**
   * Sets the values of {@code count} events in rows of equal length. Called only where {@link #lengths} are known.
   *
   * @param at where the first row has the length of the first column's value
   */
  default void set(int firstEvent, int count, CopyBuffer out, int at, int rowLength) {
    throw new IllegalStateException("the lengths of these columns vary");
  }
}
