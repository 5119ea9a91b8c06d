package io.lifeline.connect.archive;

import io.lifeline.connect.common.TaskMetrics;
import java.util.concurrent.atomic.LongAdder;

/** What a task counts, shown by the worker beside its own metrics, with the connector and the task as tags. */
final class Figures {

  final LongAdder batches = new LongAdder();
  final LongAdder duplicates = new LongAdder();
  final LongAdder rejected = new LongAdder();
  final LongAdder retries = new LongAdder();
  private final TaskMetrics metrics;
  private volatile long heldBytes;
  private volatile long waiting;

  Figures(TaskMetrics metrics) {
    this.metrics = metrics;
    metrics.add("batch-total", "Batches taken into the archive.", batches::sum);
    metrics.add("duplicate-total", "Repeated batches absorbed.", duplicates::sum);
    metrics.add("rejected-total", "Records that are no legal batch or contradict an earlier one.", rejected::sum);
    metrics.add("retry-total", "Times that the archive could not be written and is tried again.", retries::sum);
    metrics.add("held-bytes", "Memory held for events that are not stored yet.", () -> heldBytes);
    metrics.add("waiting-partitions", "Partitions whose archive is in other hands still.", () -> waiting);
  }

  void show(long bytes, int partitions) {
    heldBytes = bytes;
    waiting = partitions;
    metrics.register();
  }
}
