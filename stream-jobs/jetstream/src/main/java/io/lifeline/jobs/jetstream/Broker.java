package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.JobHost.HostException;
import io.nats.client.Connection;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.JetStreamManagement;
import io.nats.client.KeyValue;
import io.nats.client.Nats;
import io.nats.client.StreamContext;
import java.io.IOException;

/** The connection, and what the tasks use of it. */
record Broker(
    Connection connection,
    ConnectionLog log,
    JetStream jetStream,
    JetStreamManagement management,
    StreamContext batches,
    KeyValue bucket,
    Owner owner)
    implements AutoCloseable {

  private static final int NOT_FOUND = 404;

  /** Connects and makes sure that streams and bucket are there. */
  static Broker connect(NatsSettings settings) throws HostException {
    Connection connection;
    ConnectionLog log = new ConnectionLog();
    try {
      connection = Nats.connect(settings.options(log));
    } catch (IOException e) {
      throw new HostException("cannot connect to " + settings.shownUrl() + ": " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HostException("interrupted while connecting", e);
    }
    try {
      return open(connection, log, settings);
    } catch (HostException e) {
      close(connection);
      throw e;
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
