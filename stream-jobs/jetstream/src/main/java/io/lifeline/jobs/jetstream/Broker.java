package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.nats.ConnectionLog;
import io.nats.client.AuthenticationException;
import io.nats.client.Connection;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.KeyValue;
import io.nats.client.Nats;
import io.nats.client.StreamContext;
import io.nats.client.api.StreamInfo;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection, with the streams and the bucket that the tasks use. The client closes a connection for good after
 * repeated authentication errors; {@link #reopenIfClosed} then makes another, with credentials read anew. So tasks ask
 * for everything in each session.
 */
final class Broker implements AutoCloseable {

  /**
   * What belongs to one connection.
   *
   * @param subjects subjects of the batch stream
   */
  private record Link(
      Connection connection,
      JetStream jetStream,
      JetStreamManagement management,
      StreamContext batches,
      List<String> subjects,
      StreamContext output,
      KeyValue bucket) {}

  private static final Logger LOG = LoggerFactory.getLogger(Broker.class);
  private static final long SILENCE_NS = Duration.ofSeconds(5).toNanos();
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final long PAUSE_MS = 500;
  /** Unexplained failures tolerated while the port is open: a busy server aborts slow handshakes. */
  private static final int MOST_UNEXPLAINED = 3;
  private static final int NOT_FOUND = 404;
  private static final long LONGEST_PAUSE_NS = Duration.ofSeconds(10).toNanos();

  private final NatsSettings settings;
  private final ConnectionLog log;
  private final Owner owner = new Owner();
  private volatile Link link;
  private String refusal;
  private long pauseNs;
  private long nextAttemptNs;

  private volatile long silentUntilNs = System.nanoTime();

  private Broker(NatsSettings settings, ConnectionLog log, Link link) {
    this.settings = settings;
    this.log = log;
    this.link = link;
  }

  Connection connection() {
    return link.connection();
  }

  ConnectionLog log() {
    return log;
  }

  JetStream jetStream() {
    return link.jetStream();
  }

  JetStreamManagement management() {
    return link.management();
  }

  StreamContext batches() {
    return link.batches();
  }

  /** Returns whether a metric has just had no answer: the others of the same request do not wait too. */
  boolean isSilent() {
    return silentUntilNs - System.nanoTime() > 0 || connection().getStatus() != Connection.Status.CONNECTED;
  }

  /** Says that the broker has not answered in time. */
  void staysSilent() {
    silentUntilNs = System.nanoTime() + SILENCE_NS;
  }

  /** Returns the subjects of the batch stream. */
  List<String> subjects() {
    return link.subjects();
  }

  StreamContext output() {
    return link.output();
  }

  KeyValue bucket() {
    return link.bucket();
  }

  Owner owner() {
    return owner;
  }

  /**
   * Connects, retrying for 30 seconds while the broker is unreachable, and checks that the streams and the bucket
   * exist.
   */
  static Broker connect(NatsSettings settings) throws HostException {
    ConnectionLog log = new ConnectionLog();
    Connection connection = connect(settings, log);
    try {
      return new Broker(settings, log, open(connection, settings));
    } catch (HostException e) {
      close(connection);
      throw e;
    }
  }

  /** As {@link #connect}, for reading one stream, which {@link #batches} returns; output and bucket are null. */
  static Broker connectTo(NatsSettings settings, String stream) throws HostException {
    ConnectionLog log = new ConnectionLog();
    Connection connection = connect(settings, log);
    try {
      requireStream(connection, stream);
      Link link =
          new Link(
              connection,
              connection.jetStream(),
              connection.jetStreamManagement(),
              connection.getStreamContext(stream),
              List.of(),
              null,
              null);
      return new Broker(settings, log, link);
    } catch (IOException | JetStreamApiException e) {
      close(connection);
      throw doesNotServe(settings, e);
    } catch (HostException e) {
      close(connection);
      throw e;
    }
  }

  /** Returns which stream or bucket was deleted since {@link #connect}; null if none was or that is unknown. */
  String missing() {
    Connection connection = connection();
    if (connection.getStatus() != Connection.Status.CONNECTED) {
      return null;
    }
    try {
      for (String name : List.of(settings.stream(), settings.outputStream(), "KV_" + settings.bucket())) {
        requireStream(connection, name);
      }
      return null;
    } catch (HostException e) {
      return e.getMessage();
    } catch (IOException | JetStreamApiException | IllegalStateException e) {
      return null;
    }
  }

  /**
   * Connects again if the client has closed the connection for good, at increasing intervals, with user, password and
   * files as they are now. Not for brokers of {@link #connectTo}.
   */
  synchronized void reopenIfClosed() throws IOException {
    if (link.connection().getStatus() != Connection.Status.CLOSED) {
      return;
    }
    if (refusal != null && System.nanoTime() - nextAttemptNs < 0) {
      throw new IOException(refusal);
    }
    try {
      Connection connection = Nats.connect(settings.options(log));
      try {
        link = open(connection, settings);
      } catch (HostException e) {
        close(connection);
        throw e;
      }
      refusal = null;
      pauseNs = 0;
      LOG.info("connected to the broker again, with credentials read anew");
    } catch (IOException | HostException | ConfigException e) {
      pauseNs = Math.min(LONGEST_PAUSE_NS, Math.max(PAUSE_MS * 1_000_000, 2 * pauseNs));
      nextAttemptNs = System.nanoTime() + pauseNs;
      refusal = "cannot connect to " + settings.shownUrl() + " again: " + e.getMessage();
      throw new IOException(refusal, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while connecting");
    }
  }

  /** Jobs and broker are often started together, and the broker takes longer to start. */
  private static Connection connect(NatsSettings settings, ConnectionLog log) throws HostException {
    Instant patience = Instant.now().plus(PATIENCE);
    boolean told = false;
    int unexplained = 0;
    try {
      while (true) {
        boolean listening = settings.isListening();
        try {
          return Nats.connect(settings.options(log));
        } catch (IOException e) {
          boolean explained = e instanceof AuthenticationException || log.cause().isPresent();
          unexplained += listening && !explained ? 1 : 0;
          if (explained || unexplained == MOST_UNEXPLAINED || Instant.now().isAfter(patience)) {
            throw new HostException(
                "cannot connect to " + settings.shownUrl() + ": "
                    + log.cause().map(cause -> cause + ": check broker.tls.ca").orElse(e.getMessage()),
                e);
          }
        }
        if (!told) {
          LOG.warn("{} cannot be reached; waiting up to {} s for it", settings.shownUrl(), PATIENCE.toSeconds());
          told = true;
        }
        Thread.sleep(PAUSE_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HostException("interrupted while connecting", e);
    }
  }

  private static Link open(Connection connection, NatsSettings settings) throws HostException {
    try {
      requireStream(connection, settings.outputStream());
      requireStream(connection, settings.stream());
      requireNoExpiry(settings.bucket(), requireStream(connection, "KV_" + settings.bucket()));
      return new Link(
          connection,
          connection.jetStream(),
          connection.jetStreamManagement(),
          connection.getStreamContext(settings.stream()),
          connection.jetStreamManagement().getStreamInfo(settings.stream()).getConfiguration().getSubjects(),
          connection.getStreamContext(settings.outputStream()),
          connection.keyValue(settings.bucket()));
    } catch (IOException | JetStreamApiException e) {
      throw doesNotServe(settings, e);
    }
  }

  private static HostException doesNotServe(NatsSettings settings, Exception e) {
    return new HostException("the broker at " + settings.shownUrl() + " does not serve: " + e.getMessage(), e);
  }

  /** A checkpoint consists of values of different ages, and the oldest may be from long ago. */
  private static void requireNoExpiry(String bucket, StreamInfo stream) throws HostException {
    Duration maxAge = stream.getConfiguration().getMaxAge();
    if (!maxAge.isZero()) {
      throw new HostException(
          "the key-value bucket " + bucket + " removes values after " + maxAge.toSeconds() + " s, and checkpoints with "
              + "them: turn that off with 'nats stream edit KV_" + bucket + " --max-age=0'");
    }
  }

  private static StreamInfo requireStream(Connection connection, String name)
      throws HostException, IOException, JetStreamApiException {
    try {
      return connection.jetStreamManagement().getStreamInfo(name);
    } catch (JetStreamApiException e) {
      if (e.getErrorCode() == NOT_FOUND) {
        throw new HostException(
            (name.startsWith("KV_") ? "the key-value bucket " + name.substring(3) : "the stream " + name)
                + " does not exist; create it with lifeline-setup");
      }
      throw e;
    }
  }

  /**
   * Checks that the output stream accepts a subject; a stream created by an earlier release may not.
   *
   * @param what purpose of the subject, for the error message
   */
  void requireOutput(String subject, String what) throws HostException {
    try {
      if (!output().getStreamInfo().getConfiguration().getSubjects().contains(subject)) {
        throw new HostException(
            "the stream " + output().getStreamName() + " does not take " + subject + ", " + what
                + ": add that subject to it ('nats stream edit')");
      }
    } catch (IOException | JetStreamApiException e) {
      throw new HostException("the stream " + output().getStreamName() + " cannot be looked at: " + e.getMessage(), e);
    }
  }

  /** Returns another bucket; null if it does not exist, or if this user may not access it and so never used it. */
  KeyValue former(String name) throws IOException, JetStreamApiException {
    try {
      management().getStreamInfo("KV_" + name);
      return connection().keyValue(name);
    } catch (JetStreamApiException e) {
      if (e.getErrorCode() == NOT_FOUND) {
        return null;
      }
      throw e;
    } catch (IOException e) {
      LOG.info("cannot find out whether the bucket {} exists: {}", name, e.getMessage());
      return null;
    }
  }

  long maxMessageBytes() {
    return connection().getMaxPayload();
  }

  @Override
  public void close() {
    close(link.connection());
  }

  private static void close(Connection connection) {
    try {
      connection.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
