package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.nats.ConnectionLog;
import io.nats.client.AuthenticationException;
import io.nats.client.Connection;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.KeyValue;
import io.nats.client.Nats;
import io.nats.client.StreamContext;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection, and what the tasks use of it.
 *
 * @param subjects what the stream of the batches holds
 */
record Broker(
    Connection connection,
    ConnectionLog log,
    JetStream jetStream,
    JetStreamManagement management,
    StreamContext batches,
    List<String> subjects,
    StreamContext output,
    KeyValue bucket,
    Owner owner)
    implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Broker.class);
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final long PAUSE_MS = 500;
  /** Connections to a port that listens which may fail without a reason: a busy server ends slow handshakes. */
  private static final int MOST_UNEXPLAINED = 3;
  private static final int NOT_FOUND = 404;

  /** Connects, to a broker that is away within 30 seconds, and makes sure that streams and bucket are there. */
  static Broker connect(NatsSettings settings) throws HostException {
    ConnectionLog log = new ConnectionLog();
    Connection connection = connect(settings, log);
    try {
      return open(connection, log, settings);
    } catch (HostException e) {
      close(connection);
      throw e;
    }
  }

  /** Jobs and broker are often started together, and then the broker is the slower one. */
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

  private static Broker open(Connection connection, ConnectionLog log, NatsSettings settings) throws HostException {
    try {
      requireStream(connection, settings.outputStream());
      requireStream(connection, settings.stream());
      requireStream(connection, "KV_" + settings.bucket());
      return new Broker(
          connection,
          log,
          connection.jetStream(),
          connection.jetStreamManagement(),
          connection.getStreamContext(settings.stream()),
          connection.jetStreamManagement().getStreamInfo(settings.stream()).getConfiguration().getSubjects(),
          connection.getStreamContext(settings.outputStream()),
          connection.keyValue(settings.bucket()),
          new Owner());
    } catch (IOException | JetStreamApiException e) {
      throw new HostException("the broker at " + settings.shownUrl() + " does not serve: " + e.getMessage(), e);
    }
  }

  private static void requireStream(Connection connection, String name)
      throws HostException, IOException, JetStreamApiException {
    try {
      connection.jetStreamManagement().getStreamInfo(name);
    } catch (JetStreamApiException e) {
      if (e.getErrorCode() == NOT_FOUND) {
        throw new HostException(
            (name.startsWith("KV_") ? "the key-value bucket " + name.substring(3) : "the stream " + name)
                + " does not exist; 'lifeline-setup' makes it");
      }
      throw e;
    }
  }

  /**
   * Makes sure that the output stream takes a subject, which an earlier release may not have given it.
   *
   * @param what what it is for
   */
  void requireOutput(String subject, String what) throws HostException {
    try {
      if (!output.getStreamInfo().getConfiguration().getSubjects().contains(subject)) {
        throw new HostException(
            "the stream " + output.getStreamName() + " does not take " + subject + ", " + what
                + ": add that subject to it ('nats stream edit')");
      }
    } catch (IOException | JetStreamApiException e) {
      throw new HostException("the stream " + output.getStreamName() + " cannot be looked at: " + e.getMessage(), e);
    }
  }

  /** Another bucket; null if there is none, or this user may not ask: then it was never this user's. */
  KeyValue former(String name) throws IOException, JetStreamApiException {
    try {
      management.getStreamInfo("KV_" + name);
      return connection.keyValue(name);
    } catch (JetStreamApiException e) {
      if (e.getErrorCode() == NOT_FOUND) {
        return null;
      }
      throw e;
    } catch (IOException e) {
      LOG.info("whether there is a bucket {} cannot be found out: {}", name, e.getMessage());
      return null;
    }
  }

  long maxMessageBytes() {
    return connection.getMaxPayload();
  }

  @Override
  public void close() {
    close(connection);
  }

  private static void close(Connection connection) {
    try {
      connection.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
