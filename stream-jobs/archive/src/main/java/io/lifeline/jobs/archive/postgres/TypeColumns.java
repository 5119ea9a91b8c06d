package io.lifeline.jobs.archive.postgres;

import io.lifeline.codec.ColumnarBatch;
import java.util.List;

/** The columns of an event type's rows beyond those that every table has. */
interface TypeColumns {
  /** Returns their names, in order. */
  List<String> names();

  /** Starts with the events of a batch. */
  void start(ColumnarBatch.Columns events);

  /** Writes a value for each of the columns. */
  void put(int event, CopyBuffer out);
}
