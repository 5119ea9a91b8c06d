package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.Metrics;
import io.nats.client.JetStreamApiException;
import java.io.IOException;

/**
 * The number of messages that a task has not read yet, as a metric. The broker is asked, since a task that is stuck
 * learns nothing about new messages. Between two sessions it is the number that the last one had left, and those since.
 */
final class Lag {

  private volatile BatchStream stream;

  Lag(Metrics metrics, String task) {
    metrics.gauge("lifeline_lag_messages", "Messages that are not yet read.", this::messages, "task", task);
  }

  /** Says what the task reads from now on; null if another instance does. */
  void reads(BatchStream now) {
    stream = now;
  }

  private double messages() {
    BatchStream current = stream;
    try {
      return current == null ? 0 : current.unread();
    } catch (IOException | JetStreamApiException | IllegalStateException e) {
      return Double.NaN;
    }
  }
}
