package io.lifeline.connect.nats;

import io.lifeline.connect.nats.StreamReader.Start;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.NUID;
import io.nats.client.api.AckPolicy;
import io.nats.client.api.ConsumerConfiguration;
import io.nats.client.api.DeliverPolicy;
import io.nats.client.api.RetentionPolicy;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.api.StreamInfo;
import io.nats.client.api.StreamState;
import java.io.IOException;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.Map;
import org.apache.kafka.connect.errors.ConnectException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The position in one subject, and the server's consumer for it. The consumer is ephemeral: it acknowledges nothing,
 * lives in memory, and is recreated at {@link #nextSequence} when its state is in doubt.
 */
final class SubjectCursor {

  private static final Logger LOG = LoggerFactory.getLogger(SubjectCursor.class);

  private static final String ALL = ">";

  private static final String START_OVER = "To start over, stop the connector, reset its offsets (DELETE"
      + " /connectors/NAME/offsets) and resume it";

  /** Idle time after which the server deletes the consumer. */
  private static final Duration FORGET_AFTER = Duration.ofSeconds(60);

  private final String stream;
  private final String filter;
  private final Map<String, String> partition;
  private final Start start;

  /** Lowest sequence of the next message; 0 while only {@link #start} is known. */
  private long nextSequence;

  /** When the stream stored the message before {@link #nextSequence}; 0 if unknown. */
  private long lastTimeNs;

  /** Whether the consumer's first message may be the last one once more. */
  private boolean isComparing;

  private String consumer;
  private String inbox;
  private long nextConsumerSequence;

  /** Bytes requested and not yet received. */
  private long outstandingBytes;

  private boolean heard;
  private long heardNs;
  private volatile long pending;
  private volatile long expired;

  /** @param lastTimeNs when the stream stored the message before {@code nextSequence}; 0 if unknown */
  SubjectCursor(String stream, String filter, long nextSequence, long lastTimeNs, Start start) {
    this.lastTimeNs = lastTimeNs;
    this.stream = stream;
    this.filter = filter;
    this.partition = SourcePosition.partition(stream, filter);
    this.nextSequence = nextSequence;
    this.start = start;
  }

  String filter() {
    return filter;
  }

  /** The partition in Connect. */
  Map<String, String> partition() {
    return partition;
  }

  boolean isOpen() {
    return consumer != null;
  }

  String consumer() {
    return consumer;
  }

  /** Reply subject of this consumer's requests. */
  String inbox() {
    return inbox;
  }

  /** Messages that the stream holds and that were not read, as of the last one. */
  long pending() {
    return pending;
  }

  /**
   * Sequences deleted from the stream before they were read: an upper bound of this subject's lost messages. If not all
   * subjects are read, only those missing when a consumer was created count, since a gap may belong to another subject.
   */
  long expired() {
    return expired;
  }

  /**
   * Creates a consumer at the position.
   *
   * @param inbox reply subject, unique for each consumer
   * @throws ConnectException if the position belongs to another stream
   */
  void open(JetStreamManagement management, String inbox) throws IOException, JetStreamApiException {
    ConsumerConfiguration.Builder configuration =
        ConsumerConfiguration.builder()
            .name("lifeline-connect-" + NUID.nextGlobal())
            .description("Kafka Connect: " + filter)
            .filterSubject(filter)
            .ackPolicy(AckPolicy.None)
            .memStorage(true)
            .numReplicas(1)
            .inactiveThreshold(FORGET_AFTER);
    StreamInfo info = management.getStreamInfo(stream);
    if (!isReadByOffset(info.getConfiguration())) {
      throw new ConnectException(notReadByOffset(info.getConfiguration()));
    }
    place(configuration, info.getStreamState());
    consumer = management.createConsumer(stream, configuration.build()).getName();
    this.inbox = inbox;
    nextConsumerSequence = 1;
    outstandingBytes = 0;
    heard = true;
  }

  /**
   * Whether the stream keeps messages after delivery. Otherwise messages that were not yet in Kafka when a task is
   * killed would be lost.
   */
  static boolean isReadByOffset(StreamConfiguration stream) {
    return stream.getRetentionPolicy() == RetentionPolicy.Limits;
  }

  /** For the user. */
  static String notReadByOffset(StreamConfiguration stream) {
    return "stream " + stream.getName() + " drops messages once they were read (retention "
        + stream.getRetentionPolicy() + "), so none could be read again after a failure: give the connector a stream"
        + " with retention limits";
  }

  private void place(ConsumerConfiguration.Builder configuration, StreamState state) {
    if (nextSequence == 0 && start.isNew()) {
      nextSequence = state.getLastSequence() + 1;
    }
    if (nextSequence > 0) {
      checkPosition(state);
      // The stream may have lost the last message that was read, and stored others since.
      isComparing = lastTimeNs != 0 && nextSequence > 1;
      configuration.deliverPolicy(DeliverPolicy.ByStartSequence)
          .startSequence(isComparing ? nextSequence - 1 : nextSequence);
    } else if (start.time() != null) {
      configuration.deliverPolicy(DeliverPolicy.ByStartTime).startTime(start.time().atZone(ZoneOffset.UTC));
    } else {
      configuration.deliverPolicy(DeliverPolicy.All);
    }
  }

  private void checkPosition(StreamState state) {
    if (nextSequence > state.getLastSequence() + 1) {
      throw new ConnectException(
          "the offset " + (nextSequence - 1) + " of " + filter + " lies beyond the end of stream " + stream + " ("
              + state.getLastSequence() + "): the stream was recreated or has lost its last messages. " + START_OVER);
    }
    long first = Math.max(1, state.getFirstSequence());
    if (nextSequence < first) {
      expired += first - nextSequence;
      LOG.warn(
          "stream {} gave up its messages {} to {} before they were read; those of {} among them are lost",
          stream, nextSequence, first - 1, filter);
      nextSequence = first;
      lastTimeNs = 0;
    }
  }

  private void requireLast(long timeNs) {
    if (timeNs != lastTimeNs) {
      throw new ConnectException(
          "the message at offset " + (nextSequence - 1) + " of " + filter + " in stream " + stream
              + " is not the one that was read: the stream was recreated or has lost its last messages. "
              + START_OVER);
    }
  }

  /** Marks the consumer for recreation. */
  void doubt() {
    consumer = null;
  }

  /**
   * Records a message of this cursor's consumer.
   *
   * @param bytes its size as the server counts it
   * @return false if the message is dropped: it was read before, or it follows a gap, and then the consumer is marked
   *     for recreation
   * @throws ConnectException if the last message that was read has been replaced
   */
  boolean accept(Delivery delivery, long bytes) {
    heard = true;
    if (isComparing && delivery.consumerSequence() == 1 && delivery.streamSequence() == nextSequence - 1) {
      requireLast(delivery.timeNs());
      nextConsumerSequence++;
      outstandingBytes -= bytes;
      return false;
    }
    if (delivery.consumerSequence() != nextConsumerSequence || delivery.streamSequence() < nextSequence) {
      doubt();
      return false;
    }
    if (filter.equals(ALL) && nextSequence > 0) {
      expired += delivery.streamSequence() - nextSequence;
    }
    nextConsumerSequence++;
    nextSequence = delivery.streamSequence() + 1;
    lastTimeNs = delivery.timeNs();
    pending = delivery.pending();
    outstandingBytes -= bytes;
    return true;
  }

  /** Whether a request of that size is due; if so, counts it as sent. */
  boolean wants(long requestBytes) {
    if (outstandingBytes > requestBytes) {
      return false;
    }
    outstandingBytes += requestBytes;
    return true;
  }

  /** A request ended before all of its bytes were sent. */
  void requestEnded(long unusedBytes) {
    heard = true;
    outstandingBytes -= unusedBytes;
  }

  /** Records a sign of life of this consumer. */
  void heard() {
    heard = true;
  }

  /** Marks the consumer for recreation after that time without a sign of life. */
  void doubtIfSilent(long nowNs, Duration atMost) {
    if (heard) {
      heardNs = nowNs;
      heard = false;
    } else if (isOpen() && nowNs - heardNs > atMost.toNanos()) {
      LOG.warn("{}: silence for {} s; the consumer is recreated", filter, atMost.toSeconds());
      doubt();
    }
  }
}
