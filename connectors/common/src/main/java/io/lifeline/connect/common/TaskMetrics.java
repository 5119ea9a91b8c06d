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
 * Figures of a task among those of the worker (KIP-877), which removes them when the task ends. A worker older than
 * Kafka 4.1 has no place for them, and the task works without. Used by the task's thread.
 *
 * <p>A worker waits only so long for a task to stop ({@code task.shutdown.graceful.timeout.ms}). Then it starts the
 * next one of the same number, while the first still has the names and the worker refuses them to anybody else. That
 * must not end the new task: it works, and its figures appear once their names are free.
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

  /** Adds a figure that is asked for whenever somebody looks, from any thread. */
  public void add(String name, String description, LongSupplier value) {
    add(name, description, Map.of(), value);
  }

  /** The same, told from others of its name by tags. */
  public void add(String name, String description, Map<String, String> tags, LongSupplier value) {
    if (metrics != null) {
      MetricName full = metrics.metricName(name, description, new LinkedHashMap<>(tags));
      unregistered.add(new Figure(full, (config, now) -> value.getAsLong()));
      register();
    }
  }

  /** Shows what could not be shown before. Costs nothing when there is nothing; a task calls it now and then. */
  public void register() {
    while (!unregistered.isEmpty()) {
      Figure figure = unregistered.peek();
      try {
        metrics.addMetric(figure.name(), figure.value());
      } catch (IllegalArgumentException e) {
        if (!saidSo) {
          LOG.info("an earlier task of this number has not ended: this one's metrics follow when it has");
          saidSo = true;
        }
        return;
      }
      unregistered.remove();
    }
  }
}
