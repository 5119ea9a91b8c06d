package io.lifeline.connect.common;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** With the class that the worker itself gives to tasks. */
class TaskMetricsTest {

  private static final Map<String, String> TASK = Map.of("connector", "c", "task", "0");

  private final Metrics worker = new Metrics();

  @AfterEach
  void close() {
    worker.close();
  }

  @Test
  void aTaskTakesOverTheFiguresOfOneThatEndsLate() throws Exception {
    PluginMetricsImpl ofFirst = new PluginMetricsImpl(worker, TASK);
    TaskMetrics.of(() -> ofFirst).add("read-total", "Messages.", () -> 1);

    TaskMetrics second = TaskMetrics.of(() -> new PluginMetricsImpl(worker, TASK));
    second.add("read-total", "Messages.", () -> 2);
    second.add("lag", "Messages.", () -> 3);
    assertThat(shown("read-total")).as("the first one's").isEqualTo(1L);

    ofFirst.close();
    second.register();
    assertThat(shown("read-total")).isEqualTo(2L);
    assertThat(shown("lag")).isEqualTo(3L);
  }

  @Test
  void aWorkerWithoutPlaceForThemIsNoReasonToFail() {
    TaskMetrics metrics =
        TaskMetrics.of(
            () -> {
              throw new NoSuchMethodError("pluginMetrics");
            });
    metrics.add("read-total", "Messages.", () -> 1);
    metrics.register();
    assertThat(worker.metrics().keySet()).extracting(MetricName::group).doesNotContain("plugins");
  }

  private Object shown(String name) {
    return worker.metrics().entrySet().stream()
        .filter(metric -> metric.getKey().name().equals(name))
        .map(metric -> metric.getValue().metricValue())
        .findFirst()
        .orElse(null);
  }
}
