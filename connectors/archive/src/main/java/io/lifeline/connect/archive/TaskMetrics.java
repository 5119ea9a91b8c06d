package io.lifeline.connect.archive;

import java.util.LinkedHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.apache.kafka.common.metrics.Gauge;
import org.apache.kafka.common.metrics.PluginMetrics;

/** What a task counts, shown by the worker beside its own metrics, with the connector and the task as tags. */
final class TaskMetrics {

  final LongAdder batches = new LongAdder();
  final LongAdder duplicates = new LongAdder();
  final LongAdder rejected = new LongAdder();
  final LongAdder retries = new LongAdder();
  private volatile long heldBytes;
  private volatile long waiting;

  TaskMetrics(PluginMetrics metrics) {
    show(metrics, "batch-total", "Batches taken into the archive.", batches::sum);
    show(metrics, "duplicate-total", "Repeated batches absorbed.", duplicates::sum);
    show(metrics, "rejected-total", "Records that are no legal batch or contradict an earlier one.", rejected::sum);
    show(metrics, "retry-total", "Times that the archive could not be written and is tried again.", retries::sum);
    show(metrics, "held-bytes", "Memory held for events that are not stored yet.", () -> heldBytes);
    show(metrics, "waiting-partitions", "Partitions whose archive is in other hands still.", () -> waiting);
  }

  void show(long bytes, int partitions) {
    heldBytes = bytes;
    waiting = partitions;
  }

  private static void show(PluginMetrics metrics, String name, String description, LongSupplier value) {
    Gauge<Long> gauge = (config, now) -> value.getAsLong();
    metrics.addMetric(metrics.metricName(name, description, new LinkedHashMap<>()), gauge);
  }
}
