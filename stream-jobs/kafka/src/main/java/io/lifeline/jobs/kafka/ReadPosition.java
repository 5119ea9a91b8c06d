package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;

/**
 * A task's position in its partition, kept with its state. Kafka silently moves a consumer that has fallen behind the
 * log's start, so jumps are checked: messages removed by retention are reported, offset gaps left by transactions are
 * not.
 */
final class ReadPosition {

  /** Receives ranges of offsets that retention removed unread. */
  @FunctionalInterface
  interface Expired {
    void offsets(int partition, long from, long to);
  }

  private static final String KEY = "kafka/next";
  private static final String TOPIC_KEY = "kafka/topic";
  private static final long UNKNOWN = -1;
  private static final long LOOK_UP_INTERVAL_NS = 1_000_000_000;

  private final KeyedState state;
  private final LogStart logStart;
  private final Expired expired;
  private long next = UNKNOWN;
  private long lookedUpNs = System.nanoTime() - LOOK_UP_INTERVAL_NS;

  ReadPosition(KeyedState state, LogStart logStart, Expired expired) {
    this.state = state;
    this.logStart = logStart;
    this.expired = expired;
    byte[] saved = state.get(KEY);
    if (saved != null) {
      next = new StateReader(saved).version(1).varint();
    }
  }

  /**
   * Checks that the position belongs to the current topic and not to an earlier one of the same name.
   *
   * @param now ID of the current topic
   */
  void requireTopic(String topic, String now) {
    byte[] saved = state.get(TOPIC_KEY);
    if (saved == null) {
      state.put(TOPIC_KEY, new StateWriter().version(1).text(now).toBytes());
      return;
    }
    String before = new StateReader(saved).version(1).text();
    if (!before.equals(now)) {
      throw new TopicReplacedException(topic, before, now);
    }
  }

  void reading(int partition, long offset) {
    if (next != UNKNOWN && offset > next && System.nanoTime() - lookedUpNs >= LOOK_UP_INTERVAL_NS) {
      lookedUpNs = System.nanoTime();
      long start = Math.min(offset, logStart.of(partition));
      if (start > next) {
        expired.offsets(partition, next, start);
      }
    }
    next = offset + 1;
  }

  void save() {
    state.put(KEY, new StateWriter().version(1).varint(next).toBytes());
  }
}
