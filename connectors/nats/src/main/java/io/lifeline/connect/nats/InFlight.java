package io.lifeline.connect.nats;

import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.api.PublishAck;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.errors.ConnectException;

/**
 * Messages that were handed to the client and are not acknowledged, oldest first. One that fails for now stays, and is
 * published again by {@link #retry}. Used by one thread.
 */
final class InFlight {

  /** The broker does not take messages, for now. */
  static final class NotNowException extends Exception {
    NotNowException(String message) {
      super(message);
    }
  }

  /** What becomes of messages. */
  interface Outcome {
    void stored(OutgoingMessage message, boolean duplicate);

    /** The broker will never take it. */
    void refused(OutgoingMessage message, String cause);
  }

  private static final class Entry {
    private final OutgoingMessage message;
    private CompletableFuture<PublishAck> answer;
    private long dueNs;

    Entry(OutgoingMessage message) {
      this.message = message;
    }
  }

  private static final Duration ANSWER_TIME = Duration.ofSeconds(10);
  private static final int BAD_REQUEST = 400;
  private static final int OTHER_STREAM = 10060;

  private final JetStream jetStream;
  private final int most;
  private final Outcome outcome;
  private final Deque<Entry> entries = new ArrayDeque<>();

  InFlight(JetStream jetStream, int most, Outcome outcome) {
    this.jetStream = jetStream;
    this.most = most;
    this.outcome = outcome;
  }

  /** Publishes a message, once there is room for it. If this fails, the message is not in flight. */
  void publish(OutgoingMessage message) throws NotNowException, InterruptedException {
    while (entries.size() >= most) {
      settleOldest();
    }
    settleWhatIsAnswered();
    Entry entry = new Entry(message);
    send(entry);
    entries.add(entry);
  }

  /** Publishes again what failed. */
  void retry() throws NotNowException {
    for (Entry entry : entries) {
      if (entry.answer == null) {
        send(entry);
      }
    }
  }

  /** Waits until everything is answered. */
  void settle() throws NotNowException, InterruptedException {
    while (!entries.isEmpty()) {
      settleOldest();
    }
  }

  void settleWhatIsAnswered() throws NotNowException, InterruptedException {
    while (!entries.isEmpty() && entries.peek().answer != null && entries.peek().answer.isDone()) {
      settleOldest();
    }
  }

  /** Forgets messages of partitions that somebody else has now. */
  void forget(Collection<TopicPartition> partitions) {
    entries.removeIf(entry -> partitions.contains(entry.message.partition()));
  }

  /** Of each partition with messages in flight, the first one's offset. */
  Map<TopicPartition, Long> firstOffsets() {
    Map<TopicPartition, Long> first = new HashMap<>();
    entries.forEach(entry -> first.putIfAbsent(entry.message.partition(), entry.message.offset()));
    return first;
  }

  int size() {
    return entries.size();
  }

  private void send(Entry entry) throws NotNowException {
    try {
      entry.dueNs = System.nanoTime() + ANSWER_TIME.toNanos();
      entry.answer =
          jetStream.publishAsync(entry.message.subject(), entry.message.headers(), entry.message.body());
    } catch (IllegalStateException e) {
      // The client's buffer for the time without a connection is full, or the connection is closed.
      throw new NotNowException(e.getMessage());
    }
  }

  private void settleOldest() throws NotNowException, InterruptedException {
    Entry oldest = entries.peek();
    if (oldest.answer == null) {
      send(oldest);
    }
    try {
      PublishAck ack = oldest.answer.get(Math.max(0, oldest.dueNs - System.nanoTime()), TimeUnit.NANOSECONDS);
      entries.remove();
      outcome.stored(oldest.message, ack.isDuplicate());
    } catch (TimeoutException e) {
      giveUp(oldest);
      throw new NotNowException("no acknowledgement within " + ANSWER_TIME.toSeconds() + " s");
    } catch (CancellationException e) {
      giveUp(oldest);
      throw new NotNowException("no stream takes messages of subject " + oldest.message.subject() + ", for now");
    } catch (ExecutionException e) {
      JetStreamApiException refusal = refusal(e);
      if (refusal == null) {
        giveUp(oldest);
        throw new NotNowException(rootMessage(e));
      }
      if (refusal.getApiErrorCode() == OTHER_STREAM) {
        throw new ConnectException(
            "another stream than " + SinkConfig.STREAM + " says takes messages of subject " + oldest.message.subject());
      }
      outcome.refused(oldest.message, refusal.getMessage());
      entries.remove(); // not before: if nobody takes it, it stays, and no offset goes past it
    }
  }

  /** What ended one answer has mostly ended others: all that will not come are given up together. */
  private void giveUp(Entry failed) {
    long now = System.nanoTime();
    failed.answer = null;
    for (Entry entry : entries) {
      if (entry.answer != null && (entry.answer.isCancelled() || !entry.answer.isDone() && entry.dueNs - now <= 0)) {
        entry.answer = null;
      }
    }
  }

  /** The broker's answer, if it is about the message and not about the broker's own state. */
  private static JetStreamApiException refusal(Throwable error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof JetStreamApiException answer) {
        return answer.getErrorCode() == BAD_REQUEST ? answer : null;
      }
    }
    return null;
  }

  private static String rootMessage(Throwable error) {
    Throwable root = error;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root.getMessage();
  }
}
