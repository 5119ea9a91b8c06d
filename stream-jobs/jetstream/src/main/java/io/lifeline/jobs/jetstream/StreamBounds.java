package io.lifeline.jobs.jetstream;

import io.nats.client.JetStreamApiException;
import io.nats.client.StreamContext;
import io.nats.client.api.StreamInfo;
import java.io.IOException;
import java.time.Instant;

/**
 * Current identity and bounds of a stream.
 *
 * @param made creation time, which distinguishes it from another stream of the same name
 * @param first first sequence still stored, at least 1
 * @param last last sequence; 0 for a new stream
 */
record StreamBounds(String name, Instant made, long first, long last) {

  static final String START_OVER = "To start over, remove the checkpoints (the key-value bucket) or the archive that"
      + " contains the position";

  /** Creation time of an unknown stream. */
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
   * Checks that a position belongs to this stream and not to an earlier one of the same name.
   *
   * @param madeThen creation time of the stream that the position was taken in
   * @throws IOException if it is another stream
   * @throws TruncatedStreamException if the stream ends before the position
   */
  void requirePosition(long nextSequence, Instant madeThen) throws IOException {
    String position = "the position " + nextSequence + " is not one of stream " + name + " (made at " + made
        + ", ends at " + last + "): ";
    if (!madeThen.equals(UNKNOWN) && !madeThen.equals(made)) {
      throw new IOException(position + "the stream was recreated. " + START_OVER);
    }
    if (nextSequence > last + 1) {
      throw new TruncatedStreamException(position + "the stream was recreated or has lost its last messages");
    }
  }
}
