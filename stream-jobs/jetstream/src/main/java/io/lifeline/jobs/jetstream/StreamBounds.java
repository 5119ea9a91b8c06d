package io.lifeline.jobs.jetstream;

import io.nats.client.JetStreamApiException;
import io.nats.client.StreamContext;
import io.nats.client.api.StreamInfo;
import java.io.IOException;
import java.time.Instant;

/**
 * A stream as it is now.
 *
 * @param made when it was made, which tells it from another one that has its name
 * @param first the first sequence that it still has, at least 1
 * @param last the newest sequence; 0 before the first
 */
record StreamBounds(String name, Instant made, long first, long last) {

  /** Stands for a stream of which nothing is known. */
  static final Instant UNKNOWN = Instant.EPOCH;

  static StreamBounds of(StreamContext stream) throws IOException, JetStreamApiException {
    StreamInfo info = stream.getStreamInfo();
    return new StreamBounds(
        stream.getStreamName(),
        info.getCreateTime().toInstant(),
        Math.max(1, info.getStreamState().getFirstSequence()),
        info.getStreamState().getLastSequence());
  }

  /**
   * Makes sure that a position belongs to this stream and not to one that was there before it.
   *
   * @param madeThen when that stream was made that the position was taken in
   * @throws IOException if it is another one
   */
  void requirePosition(long nextSequence, Instant madeThen) throws IOException {
    boolean isAnother = !madeThen.equals(UNKNOWN) && !madeThen.equals(made);
    if (isAnother || nextSequence > last + 1) {
      throw new IOException(
          "the position " + nextSequence + " is not one of stream " + name + " (made at " + made + ", ends at " + last
              + "): the stream was made anew. To start over, remove the checkpoints (the key-value bucket) or the"
              + " archive that the position comes from");
    }
  }
}
