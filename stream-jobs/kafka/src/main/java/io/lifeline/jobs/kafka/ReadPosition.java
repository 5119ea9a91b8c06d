package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A task's position in its partition, kept with its state. Kafka silently moves a consumer: to the log's start if
 * retention has overtaken it, and back if the log has lost its last messages. So jumps are checked: messages removed by
 * retention are reported, offset gaps left by transactions are not, and after a jump back the jobs end, because the
 * state contains messages that the topic never had.
 *
 * <p>Where the log starts is asked without waiting for the answer. Until it comes, the gaps are kept with the state.
 */
final class ReadPosition {

  /** Receives ranges of offsets that retention removed unread. */
  @FunctionalInterface
  interface Expired {
    void offsets(int partition, long from, long to);
  }

  private static final String KEY = "kafka/next";
  private static final String TOPIC_KEY = "kafka/topic";
  private static final String GAPS_KEY = "kafka/gaps";
  private static final long UNKNOWN = -1;

  /** Transactions leave a gap each, which are taken for possible losses until the log's start is known. */
  private static final int MAX_GAPS = 1_000;

  private record Gap(int partition, long from, long to) {}

  private final KeyedState state;
  private final LogStart logStart;
  private final Expired expired;
  private final List<Gap> gaps = new ArrayList<>();
  private CompletableFuture<Long> asked;
  private int askedFor;
  private boolean hasChangedGaps;
  private long next = UNKNOWN;

  ReadPosition(KeyedState state, LogStart logStart, Expired expired) {
    this.state = state;
    this.logStart = logStart;
    this.expired = expired;
    byte[] saved = state.get(KEY);
    if (saved != null) {
      next = new StateReader(saved).version(1).varint();
    }
    byte[] savedGaps = state.get(GAPS_KEY);
    if (savedGaps != null) {
      StateReader reader = new StateReader(savedGaps).version(1);
      for (long left = reader.varint(); left > 0; left--) {
        gaps.add(new Gap((int) reader.varint(), reader.varint(), reader.varint()));
      }
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
      throw TopicReplacedException.recreated(topic, before, now);
    }
  }

  void reading(int partition, long offset) {
    if (next != UNKNOWN && offset < next) {
      throw TopicReplacedException.truncated(partition, next, offset);
    }
    if (next != UNKNOWN && offset > next && gaps.size() < MAX_GAPS) {
      gaps.add(new Gap(partition, next, offset));
      hasChangedGaps = true;
    }
    next = offset + 1;
  }

  /** Reports what retention has removed, as soon as it is known; to be called about every second. */
  void lookIntoGaps() {
    if (asked == null && !gaps.isEmpty()) {
      askedFor = gaps.size();
      asked = logStart.of(gaps.get(0).partition()).toCompletableFuture();
    }
    if (asked != null && asked.isDone()) {
      report();
    }
  }

  private void report() {
    if (!asked.isCompletedExceptionally()) {
      long start = asked.join();
      List<Gap> known = gaps.subList(0, askedFor);
      for (Gap gap : known) {
        if (start > gap.from()) {
          expired.offsets(gap.partition(), gap.from(), Math.min(gap.to(), start));
        }
      }
      known.clear();
      hasChangedGaps = true;
    }
    asked = null;
  }

  void save() {
    if (next != UNKNOWN) {
      state.put(KEY, new StateWriter().version(1).varint(next).toBytes());
    }
    if (hasChangedGaps) {
      StateWriter writer = new StateWriter().version(1).varint(gaps.size());
      gaps.forEach(gap -> writer.varint(gap.partition()).varint(gap.from()).varint(gap.to()));
      state.put(GAPS_KEY, writer.toBytes());
      hasChangedGaps = false;
    }
  }
}
