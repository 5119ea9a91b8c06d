package io.lifeline.connect.nats;

import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.Message;
import io.nats.client.Subscription;
import io.nats.client.support.Status;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads subjects of one stream, each in order and without a gap, by pull requests that the server fills in large
 * batches. Used by one thread.
 *
 * <p>Each subject has a share of the read-ahead, in bytes as the server counts them. Half a share is requested whenever
 * half of it has been read, so that the server always has an open request.
 *
 * <p>The client's ordered consumer is as fast, but is not used: it detects a restarted server only by missed
 * heartbeats, and each subject would have a queue of its own, while a task waits for the next message of any.
 */
final class StreamReader implements AutoCloseable {

  /** Start of a subject without an offset; by default the first message. */
  record Start(boolean isNew, Instant time) {}

  /** A message and its position. */
  record Received(SubjectCursor cursor, Message message, Delivery delivery) {}

  private static final Logger LOG = LoggerFactory.getLogger(StreamReader.class);

  private static final Duration REQUEST_TIME = Duration.ofSeconds(30);
  private static final Duration HEARTBEAT = Duration.ofSeconds(5);
  private static final Duration TRUSTED_SILENCE = HEARTBEAT.multipliedBy(3);
  private static final int MOST_MESSAGES = 100_000;
  private static final int HEADROOM_BYTES = 64 * 1024;
  private static final String PENDING_BYTES = "Nats-Pending-Bytes";

  private final NatsLink link;
  private final String stream;
  private final int readAheadBytes;
  private final List<SubjectCursor> cursors;
  private SubjectCursor lastCursor;
  private volatile long consumersMade;

  /** All below belongs to it. */
  private Connection connection;

  private JetStreamManagement management;
  private String inbox;
  private Subscription answers;
  private String requestSubject;
  private long requestBytes;
  private byte[] request;
  private long openedAtConnection;
  private long lastLookNs;

  /**
   * Does not contact the server; {@link #next} does.
   *
   * @param readAheadBytes for all cursors together
   */
  StreamReader(NatsLink link, String stream, int readAheadBytes, List<SubjectCursor> cursors) {
    this.link = link;
    this.stream = stream;
    this.readAheadBytes = readAheadBytes;
    this.cursors = cursors;
  }

  private void prepare(Connection connected) throws IOException {
    String domain = link.domain();
    management = connected.jetStreamManagement(link.jetStreamOptions());
    requestSubject = (domain == null ? "$JS.API" : "$JS." + domain + ".API") + ".CONSUMER.MSG.NEXT." + stream + ".";
    // A request that is smaller than the next message would never be filled.
    long largest = connected.getServerInfo().getMaxPayload() + HEADROOM_BYTES;
    requestBytes = Math.max(largest, readAheadBytes / 2 / cursors.size());
    request =
        String.format(
                Locale.ROOT,
                "{\"batch\":%d,\"max_bytes\":%d,\"expires\":%d,\"idle_heartbeat\":%d}",
                MOST_MESSAGES, requestBytes, REQUEST_TIME.toNanos(), HEARTBEAT.toNanos())
            .getBytes(StandardCharsets.US_ASCII);
    inbox = connected.createInbox();
    answers = connected.subscribe(inbox + ".*");
    answers.setPendingLimits(-1, -1); // the requests are the limit
    connection = connected;
  }

  /**
   * The next message of any subject.
   *
   * @param timeout how long to wait for one, or null not to wait
   * @return null if none came in time
   * @throws IOException if the server is temporarily unreachable
   */
  Received next(Duration timeout) throws IOException, JetStreamApiException, InterruptedException {
    Connection connected = link.connection();
    if (connection != connected) {
      prepare(connected);
    }
    if (timeout != null) {
      doubtTheSilent();
    }
    openWhatIsNot();
    while (true) {
      Message message = answers.nextMessage(timeout);
      if (message == null) {
        return null;
      }
      if (message.isStatusMessage()) {
        heed(message);
        continue;
      }
      Delivery delivery = Delivery.parse(message.getReplyTo());
      SubjectCursor cursor = delivery == null ? null : cursorOf(delivery);
      if (cursor != null && cursor.accept(delivery, message.consumeByteCount())) {
        request(cursor);
        return new Received(cursor, message, delivery);
      }
    }
  }

  /** Number of consumers created. */
  long consumersMade() {
    return consumersMade;
  }

  /** After a pause in reading, missed heartbeats prove nothing: the timeout starts again. */
  private void doubtTheSilent() {
    long now = System.nanoTime();
    if (now - lastLookNs > TRUSTED_SILENCE.toNanos()) {
      cursors.forEach(SubjectCursor::heard);
    }
    lastLookNs = now;
    cursors.forEach(cursor -> cursor.doubtIfSilent(now, TRUSTED_SILENCE));
  }

  /** A restarted server has lost its consumers, so each reconnection recreates them. */
  private void openWhatIsNot() throws IOException, JetStreamApiException {
    if (openedAtConnection != link.log().connections()) {
      openedAtConnection = link.log().connections();
      cursors.forEach(SubjectCursor::doubt);
    }
    for (SubjectCursor cursor : cursors) {
      if (!cursor.isOpen()) {
        consumersMade++;
        cursor.open(management, inbox + "." + consumersMade);
        request(cursor);
      }
    }
  }

  private void request(SubjectCursor cursor) {
    while (cursor.wants(requestBytes)) {
      connection.publish(requestSubject + cursor.consumer(), cursor.inbox(), request);
    }
  }

  /** Handles a status message; those of former consumers are ignored. */
  private void heed(Message message) {
    for (SubjectCursor cursor : cursors) {
      if (cursor.isOpen() && message.getSubject().equals(cursor.inbox())) {
        Status status = message.getStatus();
        if (isEndOfRequest(status)) {
          cursor.requestEnded(unused(message));
          request(cursor);
        } else if (status.isHeartbeat()) {
          cursor.heard();
        } else {
          LOG.debug("{}: {}", cursor.filter(), status.getMessageWithCode());
          cursor.doubt();
        }
        return;
      }
    }
  }

  private static long unused(Message message) {
    String bytes = message.hasHeaders() ? message.getHeaders().getFirst(PENDING_BYTES) : null;
    return bytes == null ? 0 : Long.parseLong(bytes);
  }

  private static boolean isEndOfRequest(Status status) {
    return status.getCode() == Status.REQUEST_TIMEOUT_CODE
        || status.getCode() == Status.CONFLICT_CODE
            && (status.getMessage().startsWith(Status.MESSAGE_SIZE_EXCEEDS_MAX_BYTES)
                || status.getMessage().startsWith(Status.BATCH_COMPLETED));
  }

  /** Tries the last message's cursor first: messages of a request arrive together. */
  private SubjectCursor cursorOf(Delivery delivery) {
    if (lastCursor == null || !delivery.isTo(lastCursor.consumer())) {
      lastCursor = null;
      for (SubjectCursor cursor : cursors) {
        if (delivery.isTo(cursor.consumer())) {
          lastCursor = cursor;
        }
      }
    }
    return lastCursor;
  }

  /** Deletes the consumers if the server is reachable; otherwise it removes them when idle. */
  @Override
  public void close() {
    if (connection == null || connection.getStatus() == Connection.Status.CLOSED) {
      return;
    }
    answers.unsubscribe();
    for (SubjectCursor cursor : cursors) {
      if (cursor.isOpen() && connection.getStatus() == Connection.Status.CONNECTED) {
        try {
          management.deleteConsumer(stream, cursor.consumer());
        } catch (IOException | JetStreamApiException e) {
          return;
        }
      }
    }
  }
}
