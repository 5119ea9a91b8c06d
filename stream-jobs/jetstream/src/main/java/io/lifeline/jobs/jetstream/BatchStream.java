package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.Position;
import io.nats.client.ConsumeOptions;
import io.nats.client.IterableConsumer;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamStatusCheckedException;
import io.nats.client.Message;
import io.nats.client.StreamContext;
import io.nats.client.api.DeliverPolicy;
import io.nats.client.api.OrderedConsumerConfiguration;
import io.nats.client.api.StreamState;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;

/**
 * The stream of batches from one position on, in order, without acknowledgements: position is the reader's business. Used
 * by one thread.
 */
final class BatchStream implements AutoCloseable {

  /** One message with its place. */
  record Received(Position position, byte[] data) {}

  /** Batches that the broker may send ahead: 13 MB of usual ones. */
  private static final int READ_AHEAD = 200;

  private final IterableConsumer consumer;

  private BatchStream(IterableConsumer consumer) {
    this.consumer = consumer;
  }

  static BatchStream open(StreamContext stream, String[] subjects, long nextSequence)
      throws IOException, JetStreamApiException {
    OrderedConsumerConfiguration configuration =
        new OrderedConsumerConfiguration()
            .filterSubjects(subjects)
            .deliverPolicy(DeliverPolicy.ByStartSequence)
            .startSequence(nextSequence);
    return new BatchStream(
        stream.createOrderedConsumer(configuration).iterate(ConsumeOptions.builder().batchSize(READ_AHEAD).build()));
  }

  /**
   * The first sequence that the stream still has, at least 1.
   *
   * @throws IOException if the stream ends before the position: then it is not the stream that the position belongs to
   */
  static long firstSequence(StreamContext stream, long nextSequence) throws IOException, JetStreamApiException {
    StreamState state = stream.getStreamInfo().getStreamState();
    if (nextSequence > state.getLastSequence() + 1) {
      throw new IOException(
          "the position " + nextSequence + " lies beyond the end of stream " + stream.getStreamName() + " ("
              + state.getLastSequence() + "): the stream was made anew. Delete the bucket with the checkpoints to start over");
    }
    return Math.max(1, state.getFirstSequence());
  }

  /** The next message, or null if none came in time. */
  Received next(Duration timeout) throws IOException {
    try {
      Message message = consumer.nextMessage(timeout);
      if (message == null) {
        return null;
      }
      var meta = message.metaData();
      long brokerTimeMs = meta.timestamp().toInstant().toEpochMilli();
      return new Received(new Position(0, meta.streamSequence(), brokerTimeMs), message.getData());
    } catch (JetStreamStatusCheckedException e) {
      throw new IOException("the broker ended the reading: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while reading");
    }
  }

  @Override
  public void close() {
    consumer.stop();
    try {
      consumer.close();
    } catch (Exception e) {
      // The broker removes an ordered consumer that nobody reads by itself.
      return;
    }
  }
}
