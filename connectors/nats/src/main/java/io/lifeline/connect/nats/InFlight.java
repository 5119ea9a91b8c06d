package io.lifeline.connect.nats;

import io.nats.client.Connection;
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
 * Published messages without an acknowledgement, oldest first. After a transient failure a message stays, and {@link
 * #retry} publishes it again. Used by one thread.
 */
final class InFlight {

  /** The broker is temporarily unavailable. */
  static final class NotNowException extends Exception {
    NotNowException(String message) {
      super(message);
    }
  }

  /** Outcome of messages. */
  interface Outcome {
    void stored(OutgoingMessage message, boolean duplicate);

    /** The broker rejected the message permanently. */
    void refused(OutgoingMessage message, String cause);
  }

  private static final class Entry {
    private final OutgoingMessage message;
    private CompletableFuture<PublishAck> answer;
    private long dueNs;
    private long reconnects;

    Entry(OutgoingMessage message) {
      this.message = message;
    }
  }

  /** Interval of connection checks while waiting for an answer: the client does not report a lost connection. */
  private static final long LOOK_NS = Duration.ofMillis(100).toNanos();

  private static final int BAD_REQUEST = 400;
  private static final int OTHER_STREAM = 10060;

  private Connection connection;
  private JetStream jetStream;
  private final Duration answerTime;
  private final int most;
  private final Outcome outcome;
  private final Deque<Entry> entries = new ArrayDeque<>();

  /**
   * Nothing is in flight yet.
   *
   * @param jetStream of the connection
   * @param answerTime how long to wait for an acknowledgement
   * @param most messages without one
   */
  InFlight(Connection connection, JetStream jetStream, Duration answerTime, int most, Outcome outcome) {
    this.connection = connection;
    this.jetStream = jetStream;
    this.answerTime = answerTime;
    this.most = most;
    this.outcome = outcome;
  }

  /** Goes on with another connection; on the former one nothing is answered any more. */
  void moveTo(Connection other, JetStream itsJetStream) {
    connection = other;
    jetStream = itsJetStream;
    entries.forEach(entry -> entry.answer = null);
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

  /** Publishes failed messages again. */
  void retry() throws NotNowException {
    for (Entry entry : entries) {
      if (entry.answer == null) {
        send(entry);
      }
    }
  }

  /** Waits for all acknowledgements. */
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

  /** Drops messages of partitions that were reassigned. */
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
    if (connection.getStatus() != Connection.Status.CONNECTED) {
      // The client would keep it and send it later, and then it would be sent twice.
      throw new NotNowException("the connection is lost");
    }
    try {
      entry.dueNs = System.nanoTime() + answerTime.toNanos();
      entry.reconnects = connection.getStatistics().getReconnects();
      entry.answer =
          jetStream.publishAsync(entry.message.subject(), entry.message.headers(), entry.message.body());
    } catch (IllegalStateException e) {
      // The connection was lost just now, or is closed.
      throw new NotNowException(e.getMessage());
    }
  }

  private void settleOldest() throws NotNowException, InterruptedException {
    Entry oldest = entries.peek();
    if (oldest.answer == null) {
      send(oldest);
    }
    try {
      PublishAck ack = await(oldest);
      entries.remove();
      outcome.stored(oldest.message, ack.isDuplicate());
    } catch (TimeoutException e) {
      giveUp(oldest);
      throw new NotNowException(
          isLost(oldest)
              ? "the connection was lost before the acknowledgement came"
              : "no acknowledgement within " + answerTime.toSeconds() + " s");
    } catch (CancellationException e) {
      giveUp(oldest);
      throw new NotNowException("no stream stores messages of subject " + oldest.message.subject() + ", for now");
    } catch (ExecutionException e) {
      JetStreamApiException refusal = refusal(e);
      if (refusal == null) {
        giveUp(oldest);
        throw new NotNowException(rootMessage(e));
      }
      if (refusal.getApiErrorCode() == OTHER_STREAM) {
        throw new ConnectException(
            "subject " + oldest.message.subject() + " belongs to another stream: correct " + SinkConfig.STREAM);
      }
      outcome.refused(oldest.message, refusal.getMessage());
      entries.remove(); // last: after an exception it stays, and no offset goes past it
    }
  }

  private PublishAck await(Entry entry) throws ExecutionException, InterruptedException, TimeoutException {
    while (true) {
      long leftNs = entry.dueNs - System.nanoTime();
      try {
        return entry.answer.get(Math.max(0, Math.min(leftNs, LOOK_NS)), TimeUnit.NANOSECONDS);
      } catch (TimeoutException e) {
        if (leftNs <= LOOK_NS || isLost(entry)) {
          throw e;
        }
      }
    }
  }

  /** An acknowledgement can arrive only on the connection of its request. */
  private boolean isLost(Entry entry) {
    return connection.getStatus() != Connection.Status.CONNECTED
        || connection.getStatistics().getReconnects() != entry.reconnects;
  }

  /** A lost connection affects several acknowledgements: all that cannot arrive fail together. */
  private void giveUp(Entry failed) {
    long now = System.nanoTime();
    failed.answer = null;
    for (Entry entry : entries) {
      if (entry.answer != null && willNotCome(entry, now)) {
        entry.answer = null;
      }
    }
  }

  private boolean willNotCome(Entry entry, long now) {
    return entry.answer.isCancelled() || !entry.answer.isDone() && (entry.dueNs - now <= 0 || isLost(entry));
  }

  /** The broker's rejection, unless it is due to the broker's own state. */
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
