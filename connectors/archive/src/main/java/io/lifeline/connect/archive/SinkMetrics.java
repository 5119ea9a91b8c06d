package io.lifeline.connect.archive;

import io.lifeline.connect.common.TaskMetrics;
import java.util.concurrent.atomic.LongAdder;

/** Metrics of a task, exported by the worker with connector and task as tags. */
final class SinkMetrics {

  final LongAdder batches = new LongAdder();
  final LongAdder duplicates = new LongAdder();
  final LongAdder rejected = new LongAdder();
  final LongAdder retries = new LongAdder();
  private final TaskMetrics metrics;
  private volatile long heldBytes;
  private volatile long waiting;

  SinkMetrics(TaskMetrics metrics) {
    this.metrics = metrics;
    metrics.add("batch-total", "Number of batches archived.", batches::sum);
    metrics.add("duplicate-total", "Number of duplicate batches dropped.", duplicates::sum);
    metrics.add("rejected-total", "Number of invalid or conflicting records.", rejected::sum);
    metrics.add("retry-total", "Number of retries after failed writes.", retries::sum);
    metrics.add("held-bytes", "Bytes of buffered events.", () -> heldBytes);
    metrics.add("waiting-partitions", "Number of partitions locked by another writer.", () -> waiting);
  }

  void show(long bytes, int partitions) {
    heldBytes = bytes;
    waiting = partitions;
    metrics.register();
  }
}
