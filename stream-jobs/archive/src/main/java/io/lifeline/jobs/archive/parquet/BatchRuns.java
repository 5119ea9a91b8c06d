package io.lifeline.jobs.archive.parquet;

import java.nio.IntBuffer;
import java.util.Arrays;
import org.duckdb.DuckDBWritableVector;

/** The batch of each row. The rows of a batch are adjacent, so one entry per batch is enough. */
final class BatchRuns {
  private int[] batches = new int[4];
  private int[] ends = new int[4];
  private int count;

  /**
   * Adds a batch.
   *
   * @param end index after the batch's last row
   */
  void append(int batch, int end) {
    if (count == batches.length) {
      batches = Arrays.copyOf(batches, 2 * count);
      ends = Arrays.copyOf(ends, 2 * count);
    }
    batches[count] = batch;
    ends[count++] = end;
  }

  /** Returns the memory used, in bytes. */
  long bytes() {
    return 8L * batches.length;
  }

  /** Writes the batches of {@code length} rows from {@code from} on into the vector's rows from {@code at} on. */
  void write(DuckDBWritableVector vector, int at, int from, int length) {
    int run = Arrays.binarySearch(ends, 0, count, from + 1);
    run = run < 0 ? -run - 1 : run;
    IntBuffer memory = VectorMemory.values(vector, at, length).asIntBuffer();
    for (int i = 0; i < length; run++) {
      for (int end = Math.min(length, ends[run] - from); i < end; i++) {
        memory.put(at + i, batches[run]);
      }
    }
  }
}
