package io.lifeline.connect.nats;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.common.metrics.Gauge;
import org.apache.kafka.common.metrics.PluginMetrics;

/**
 * Figures of a task among those of the worker (KIP-877), which removes them when the task ends. A worker older than
 * Kafka 4.1 has no place for them, and the task works without.
 */
final class TaskMetrics {

  private final PluginMetrics metrics;

  private TaskMetrics(PluginMetrics metrics) {
    this.metrics = metrics;
  }

  /**
   * Takes the worker's metrics.
   *
   * @param ofContext asks the task's context
   */
  static TaskMetrics of(Supplier<PluginMetrics> ofContext) {
    try {
      return new TaskMetrics(ofContext.get());
    } catch (NoSuchMethodError | NoClassDefFoundError e) {
      return new TaskMetrics(null);
    }
  }

  /** Adds a figure that is asked for whenever somebody looks, from any thread. */
  void add(String name, String description, LongSupplier value) {
    add(name, description, Map.of(), value);
  }

  /** The same, told from others of its name by tags. */
  void add(String name, String description, Map<String, String> tags, LongSupplier value) {
    if (metrics != null) {
      Gauge<Long> gauge = (config, now) -> value.getAsLong();
      metrics.addMetric(metrics.metricName(name, description, new LinkedHashMap<>(tags)), gauge);
    }
  }
}
