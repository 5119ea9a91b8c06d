package io.lifeline.jobs.core.filter;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.ColumnarBatch.Columns;

/** The events of one type in one batch, which a condition judges together. */
record EventGroup(BatchReader batch, Columns columns) {

  int words() {
    return (columns.size() + 63) >>> 6;
  }
}
