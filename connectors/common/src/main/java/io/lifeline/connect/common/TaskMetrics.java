package io.lifeline.connect.common;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.Gauge;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers metrics of a task with the worker (KIP-877), which removes them when the task ends. A worker older than
 * Kafka 4.1 does not support them, and the task runs without. Used by the task's thread.
 *
 * <p>A worker waits for a task to stop only for {@code task.shutdown.graceful.timeout.ms}. Then it starts a successor
 * with the same number, while the first task still holds the metric names. The new task must not fail because of that:
 * it registers its metrics when the names are free.
 */
public final class TaskMetrics {

  private static final Logger LOG = LoggerFactory.getLogger(TaskMetrics.class);

  private record Figure(MetricName name, Gauge<Long> value) {}

  private final PluginMetrics metrics;
  private final Deque<Figure> unregistered = new ArrayDeque<>();
  private boolean saidSo;

  private TaskMetrics(PluginMetrics metrics) {
    this.metrics = metrics;
  }

  /**
   * Takes the worker's metrics.
   *
   * @param ofContext asks the task's context
   */
  public static TaskMetrics of(Supplier<PluginMetrics> ofContext) {
    try {
      return new TaskMetrics(ofContext.get());
    } catch (NoSuchMethodError | NoClassDefFoundError e) {
      return new TaskMetrics(null);
    }
  }

  /** Adds a metric; any thread may call the supplier. */
  public void add(String name, String description, LongSupplier value) {
    add(name, description, Map.of(), value);
  }

  /** Adds a metric with tags. */
  public void add(String name, String description, Map<String, String> tags, LongSupplier value) {
    if (metrics != null) {
      MetricName full = metrics.metricName(name, description, new LinkedHashMap<>(tags));
      unregistered.add(new Figure(full, (config, now) -> value.getAsLong()));
      register();
    }
  }

  /** Registers pending metrics; cheap, and called repeatedly. */
  public void register() {
    while (!unregistered.isEmpty()) {
      Figure figure = unregistered.peek();
      try {
        metrics.addMetric(figure.name(), figure.value());
      } catch (IllegalArgumentException e) {
        if (!saidSo) {
          LOG.info("the previous task with this number has not ended: metrics are registered when it ends");
          saidSo = true;
        }
        return;
      }
      unregistered.remove();
    }
  }
}
