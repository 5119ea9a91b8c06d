package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.Position;
import io.nats.client.ConsumeOptions;
import io.nats.client.IterableConsumer;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamStatusCheckedException;
import io.nats.client.Message;
import io.nats.client.StreamContext;
import io.nats.client.api.AckPolicy;
import io.nats.client.api.ConsumerConfiguration;
import io.nats.client.api.ConsumerInfo;
import io.nats.client.api.DeliverPolicy;
import io.nats.client.api.OrderedConsumerConfiguration;
import io.nats.client.impl.NatsJetStreamMetaData;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.time.Instant;

/**
 * Reads a stream, usually the batch stream, in order from a given position, without acknowledgements: the caller keeps
 * the position. Used by one thread.
 *
 * <p>A restarted broker loses its ordered consumers, and the client takes most of a minute to notice. So the consumer
 * is recreated after every reconnection, and also after an idle period, in case the broker lost it unnoticed. It then
 * starts with the last message that was read: the broker may have lost that one and stored others since.
 */
final class BatchStream implements AutoCloseable {

  /**
   * One message and its position.
   *
   * @param behind messages still pending when the broker sent it
   * @param signature null if it has none
   */
  record Received(Position position, byte[] data, long behind, String signature) {}

  private static final String SIGNATURE_HEADER = "Lifeline-Signature";

  /** Bytes the broker may send ahead. */
  private static final long READ_AHEAD_BYTES = 16 << 20;

  /**
   * Minimum read-ahead, in messages of the maximum size; with less, a message of that size would never arrive. The
   * client requests more when a quarter is left, so three of them fit into each request.
   */
  private static final int READ_AHEAD_LARGEST = 4;

  /** How long the broker keeps a consumer that only counts. */
  private static final Duration COUNTING = Duration.ofSeconds(1);

  private static final long RENEW_WHEN_IDLE_NS = Duration.ofSeconds(10).toNanos();

  private final Broker broker;
  private final StreamContext stream;
  private final Instant made;
  private final String[] subjects;
  private volatile IterableConsumer consumer;
  private volatile long nextSequence;

  /** Number of the last message that was read among those of the {@link #consumer}. */
  private volatile long lastOfConsumer;

  /** Broker time of the message before {@link #nextSequence}; 0 if unknown. */
  private long lastTimeMs;

  /** Whether the next message may be the last one once more. */
  private volatile boolean isComparing;

  private long openedAtConnection;
  private long lastReceivedNs;

  private BatchStream(Broker broker, StreamContext stream, Instant made, String[] subjects, long nextSequence,
      long lastTimeMs) {
    this.lastTimeMs = lastTimeMs;
    this.broker = broker;
    this.stream = stream;
    this.made = made;
    this.subjects = subjects;
    this.nextSequence = nextSequence;
  }

  /**
   * Opens a stream.
   *
   * @param made creation time of the stream; reading fails if another stream has replaced it
   * @param lastTimeMs broker time of the message before {@code nextSequence}; 0 if unknown. Reading fails if that is
   *     another message now
   */
  static BatchStream open(Broker broker, StreamContext stream, Instant made, String[] subjects, long nextSequence,
      long lastTimeMs) throws IOException, JetStreamApiException {
    BatchStream opened = new BatchStream(broker, stream, made, subjects, nextSequence, lastTimeMs);
    opened.openConsumer();
    return opened;
  }

  /**
   * Returns the next message, or null on timeout.
   *
   * @throws TruncatedStreamException if the last message that was read is missing or has been replaced
   */
  Received next(Duration timeout) throws IOException, JetStreamApiException {
    if (openedAtConnection != broker.log().connections()
        || System.nanoTime() - lastReceivedNs > RENEW_WHEN_IDLE_NS) {
      closeConsumer();
      openConsumer();
    }
    try {
      Message message = consumer.nextMessage(timeout);
      if (message == null) {
        return null;
      }
      NatsJetStreamMetaData meta = message.metaData();
      lastReceivedNs = System.nanoTime();
      long brokerTimeMs = meta.timestamp().toInstant().toEpochMilli();
      boolean isLast = isComparing && meta.streamSequence() < nextSequence;
      isComparing = false;
      if (isLast) {
        requireLast(brokerTimeMs);
        return next(timeout);
      }
      lastOfConsumer = meta.consumerSequence();
      nextSequence = meta.streamSequence() + 1;
      lastTimeMs = brokerTimeMs;
      Position position = new Position(0, meta.streamSequence(), brokerTimeMs);
      return new Received(position, message.getData(), meta.pendingCount(), signature(message));
    } catch (JetStreamStatusCheckedException e) {
      throw new IOException("the broker ended the reading: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while reading");
    }
  }

  private void requireLast(long brokerTimeMs) throws TruncatedStreamException {
    if (brokerTimeMs != lastTimeMs) {
      throw new TruncatedStreamException("message " + (nextSequence - 1) + " of stream " + stream.getStreamName()
          + " is not the one that was read (stored at " + Instant.ofEpochMilli(brokerTimeMs) + ", not "
          + Instant.ofEpochMilli(lastTimeMs) + "): the stream has lost its last messages and stored others since");
    }
  }

  private static String signature(Message message) {
    return message.hasHeaders() ? message.getHeaders().getFirst(SIGNATURE_HEADER) : null;
  }

  /** Returns whether the broker has nothing more for this reader, stored or in flight; called after a timeout. */
  boolean isAtEnd() throws IOException, JetStreamApiException {
    ConsumerInfo info = info(consumer);
    return info.getNumPending() == 0 && info.getDelivered().getStreamSequence() < nextSequence;
  }

  /**
   * Asks the broker how many messages the caller has not read, also after {@link #close}. Other threads may call this.
   */
  long unread() throws IOException, JetStreamApiException {
    if (broker.isSilent()) {
      throw new IOException("the broker does not answer");
    }
    try {
      return countUnread();
    } catch (IOException e) {
      broker.staysSilent();
      throw e;
    }
  }

  private long countUnread() throws IOException, JetStreamApiException {
    IterableConsumer current = consumer;
    if (current == null) {
      ConsumerConfiguration counting =
          ConsumerConfiguration.builder().ackPolicy(AckPolicy.None).filterSubjects(subjects)
              .deliverPolicy(DeliverPolicy.ByStartSequence).startSequence(nextSequence)
              .inactiveThreshold(COUNTING).memStorage(true).numReplicas(1).build();
      return broker.management().addOrUpdateConsumer(stream.getStreamName(), counting).getNumPending();
    }
    ConsumerInfo info = info(current);
    long sentAhead = info.getDelivered().getConsumerSequence() - lastOfConsumer;
    return Math.max(0, info.getNumPending() + Math.max(0, sentAhead) - (isComparing ? 1 : 0));
  }

  /** Of an ordered consumer, the client itself returns what the broker said when it was made. */
  private ConsumerInfo info(IterableConsumer of) throws IOException, JetStreamApiException {
    return broker.management().getConsumerInfo(stream.getStreamName(), of.getConsumerName());
  }

  @Override
  public void close() {
    closeConsumer();
    consumer = null;
  }

  private void openConsumer() throws IOException, JetStreamApiException {
    openedAtConnection = broker.log().connections();
    lastReceivedNs = System.nanoTime();
    StreamBounds.of(stream).requirePosition(nextSequence, made);
    isComparing = lastTimeMs != 0 && nextSequence > 1;
    lastOfConsumer = 0;
    OrderedConsumerConfiguration configuration =
        new OrderedConsumerConfiguration()
            .filterSubjects(subjects)
            .deliverPolicy(DeliverPolicy.ByStartSequence)
            .startSequence(isComparing ? nextSequence - 1 : nextSequence);
    consumer =
        stream
            .createOrderedConsumer(configuration)
            .iterate(ConsumeOptions.builder().batchBytes(readAheadBytes()).build());
  }

  private long readAheadBytes() {
    return Math.max(READ_AHEAD_BYTES, READ_AHEAD_LARGEST * broker.maxMessageBytes());
  }

  private void closeConsumer() {
    try {
      consumer.close();
    } catch (Exception e) {
      // The broker removes abandoned ordered consumers by itself.
      return;
    }
  }
}
