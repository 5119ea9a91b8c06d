package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.Metrics;
import java.util.Set;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import org.apache.kafka.common.Metric;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.TaskMetadata;
import org.apache.kafka.streams.ThreadMetadata;

/** Publishes the most important metrics of the Kafka clients among the process's own. */
final class ClientMetrics {

  private ClientMetrics() {}

  /** @param lag asks the broker: a consumer that fetches nothing shows none */
  static void show(KafkaStreams streams, DoubleSupplier lag, Metrics metrics) {
    metrics.gauge("lifeline_kafka_lag_max", "Unread messages of the partition with the largest lag.", lag);
    metrics.gauge(
        "lifeline_kafka_threads",
        "Stream threads alive.",
        () -> largest(streams, "stream-metrics", "alive-stream-threads"));
    metrics.gauge(
        "lifeline_kafka_active_tasks",
        "Active tasks of this instance.",
        () -> tasks(streams, ThreadMetadata::activeTasks));
    metrics.gauge(
        "lifeline_kafka_standby_tasks",
        "Standby tasks: tasks of other instances whose state this instance replicates.",
        () -> tasks(streams, ThreadMetadata::standbyTasks));
  }

  private static double tasks(KafkaStreams streams, Function<ThreadMetadata, Set<TaskMetadata>> kind) {
    return streams.state().isRunningOrRebalancing()
        ? streams.metadataForLocalThreads().stream().mapToInt(thread -> kind.apply(thread).size()).sum()
        : 0;
  }

  /** Returns the largest value of all clients; 0 if none has one yet. */
  private static double largest(KafkaStreams streams, String group, String name) {
    return streams.metrics().values().stream()
        .filter(metric -> metric.metricName().name().equals(name) && metric.metricName().group().equals(group))
        .map(Metric::metricValue)
        .filter(Number.class::isInstance)
        .mapToDouble(value -> ((Number) value).doubleValue())
        .filter(Double::isFinite)
        .max()
        .orElse(0);
  }
}
