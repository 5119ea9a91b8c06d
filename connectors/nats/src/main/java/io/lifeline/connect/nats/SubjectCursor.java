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
 * Where the reading of one subject stands, and the consumer on the server that it is read through. The consumer is
 * nothing but a means: it acknowledges nothing, lives in memory, and is made anew at {@link #nextSequence} whenever
 * there is doubt about it.
 */
final class SubjectCursor {

  private static final Logger LOG = LoggerFactory.getLogger(SubjectCursor.class);

  private static final String ALL = ">";

  /** After that long without a request the server drops the consumer. */
  private static final Duration FORGET_AFTER = Duration.ofSeconds(60);

  private final String stream;
  private final String filter;
  private final Map<String, String> partition;
  private final Start start;

  /** The next message to read has at least this sequence; 0 as long as only {@link #start} is known. */
  private long nextSequence;

  private String consumer;
  private String inbox;
  private long nextConsumerSequence;

  /** What the server was asked for and has not sent. */
  private long outstandingBytes;

  private boolean heard;
  private long heardNs;
  private volatile long pending;
  private volatile long expired;

  SubjectCursor(String stream, String filter, long nextSequence, Start start) {
    this.stream = stream;
    this.filter = filter;
    this.partition = SourcePosition.partition(stream, filter);
    this.nextSequence = nextSequence;
    this.start = start;
  }

  String filter() {
    return filter;
  }

  /** As Connect knows it. */
  Map<String, String> partition() {
    return partition;
  }

  boolean isOpen() {
    return consumer != null;
  }

  String consumer() {
    return consumer;
  }

  /** Where the server answers to this consumer's requests. */
  String inbox() {
    return inbox;
  }

  /** Messages that the stream holds and that were not read, as of the last one. */
  long pending() {
    return pending;
  }

  /**
   * Sequences that the stream gave up before they were read; at most so many messages of this subject are lost. Where
   * not all subjects are read, a gap between two messages says nothing, and only what had gone when a consumer was made
   * counts.
   */
  long expired() {
    return expired;
  }

  /**
   * Makes a consumer at the position.
   *
   * @param inbox where the server shall answer, which no consumer had before
   * @throws ConnectException if the stream is not the one that the position belongs to
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
   * Whether the stream keeps what was read. One that does not would drop messages as soon as they are sent here, and
   * those that were not yet in Kafka when a task is killed would be nowhere.
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
      configuration.deliverPolicy(DeliverPolicy.ByStartSequence).startSequence(nextSequence);
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
              + state.getLastSequence() + "): the stream was made anew. To start over, stop the connector, reset its"
              + " offsets (DELETE /connectors/NAME/offsets) and resume it");
    }
    long first = Math.max(1, state.getFirstSequence());
    if (nextSequence < first) {
      expired += first - nextSequence;
      LOG.warn(
          "stream {} gave up its messages {} to {} before they were read; those of {} among them are lost",
          stream, nextSequence, first - 1, filter);
      nextSequence = first;
    }
  }

  /** Doubts the consumer, so that it is made anew. */
  void doubt() {
    consumer = null;
  }

  /**
   * Notes a message of this cursor's consumer.
   *
   * @param bytes its size as the server counts it
   * @return false if one before it is missing: then it does not count, and the consumer is in doubt
   */
  boolean accept(Delivery delivery, long bytes) {
    heard = true;
    if (delivery.consumerSequence() != nextConsumerSequence || delivery.streamSequence() < nextSequence) {
      doubt();
      return false;
    }
    if (filter.equals(ALL) && nextSequence > 0) {
      expired += delivery.streamSequence() - nextSequence;
    }
    nextConsumerSequence++;
    nextSequence = delivery.streamSequence() + 1;
    pending = delivery.pending();
    outstandingBytes -= bytes;
    return true;
  }

  /** Whether another request of so many bytes is due; if so, it counts as made. */
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

  /** The server said something about this consumer. */
  void heard() {
    heard = true;
  }

  /** Doubts the consumer if the server has said nothing about it for so long. */
  void doubtIfSilent(long nowNs, Duration atMost) {
    if (heard) {
      heardNs = nowNs;
      heard = false;
    } else if (isOpen() && nowNs - heardNs > atMost.toNanos()) {
      LOG.warn("{}: silence for {} s; the consumer is made anew", filter, atMost.toSeconds());
      doubt();
    }
  }
}
