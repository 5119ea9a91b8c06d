package io.lifeline.connect.nats;

import io.lifeline.nats.ConnectionLog;
import io.lifeline.nats.ConnectionSettings;
import io.nats.client.AuthenticationException;
import io.nats.client.Connection;
import io.nats.client.JetStreamOptions;
import io.nats.client.Nats;
import java.io.IOException;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.connect.errors.ConnectException;

/**
 * A task's connection, opened on first use: a worker may start before the broker, which is then treated as unreachable.
 * The client closes a connection for good after repeated authentication errors; then another one is made, with context
 * and files read anew.
 */
final class NatsLink implements AutoCloseable {

  private final ConnectionLog log = new ConnectionLog();
  private final AbstractConfig config;
  private final String name;
  private final String domain;
  private String servers;
  private Connection connection;

  /**
   * Only remembers how to connect.
   *
   * @param name what the broker's monitoring calls the connection
   * @throws ConnectException if the settings cannot be used
   */
  NatsLink(AbstractConfig config, String name) {
    this.config = config;
    this.name = name;
    try {
      servers = settings().toString();
      domain = ConnectionConfig.domain(config, System.getenv());
    } catch (IllegalArgumentException e) {
      throw new ConnectException(e.getMessage(), e);
    }
  }

  private ConnectionSettings settings() {
    return ConnectionConfig.settings(config, "kafka-connect " + name, System.getenv());
  }

  /**
   * The connection; another one than before if that was closed for good.
   *
   * @throws IOException if it is not available now
   * @throws ConnectException if the settings cannot work
   */
  Connection connection() throws IOException, InterruptedException {
    if (connection == null) {
      connection = connect();
    }
    Connection.Status status = connection.getStatus();
    if (status == Connection.Status.CLOSED) {
      String reason = connection.getLastError();
      connection = null;
      throw new IOException("NATS at " + servers + " ended the connection: " + reason);
    }
    if (status != Connection.Status.CONNECTED) {
      throw new IOException("the connection to NATS at " + servers + " is lost");
    }
    return connection;
  }

  private Connection connect() throws IOException, InterruptedException {
    boolean hasWorked = log.connections() > 0;
    try {
      ConnectionSettings settings = settings();
      servers = settings.toString();
      return Nats.connect(settings.options(log));
    } catch (AuthenticationException | IllegalArgumentException e) {
      String message = "cannot connect to NATS at " + servers + ": " + e.getMessage();
      if (hasWorked) { // the credentials may be about to be replaced
        throw new IOException(message, e);
      }
      throw new ConnectException(message, e);
    } catch (IOException e) {
      throw new IOException("cannot connect to NATS at " + servers + ": " + log.cause().orElse(e.getMessage()), e);
    }
  }

  ConnectionLog log() {
    return log;
  }

  /** The JetStream domain, or null. */
  String domain() {
    return domain;
  }

  JetStreamOptions jetStreamOptions() {
    return JetStreamOptions.builder().domain(domain).build();
  }

  @Override
  public void close() {
    if (connection != null) {
      try {
        connection.close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
