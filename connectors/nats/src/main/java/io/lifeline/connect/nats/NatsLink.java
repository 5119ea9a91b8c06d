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
 */
final class NatsLink implements AutoCloseable {

  private final ConnectionLog log = new ConnectionLog();
  private final ConnectionSettings settings;
  private final String domain;
  private Connection connection;

  /**
   * Only remembers how to connect.
   *
   * @param name what the broker's monitoring calls the connection
   * @throws ConnectException if the settings cannot be used
   */
  NatsLink(AbstractConfig config, String name) {
    try {
      settings = ConnectionConfig.settings(config, "kafka-connect " + name, System.getenv());
      domain = ConnectionConfig.domain(config, System.getenv());
    } catch (IllegalArgumentException e) {
      throw new ConnectException(e.getMessage(), e);
    }
  }

  /**
   * The connection; after a loss the client reconnects by itself.
   *
   * @throws IOException if it is not available now
   * @throws ConnectException if the settings cannot work, or the client has stopped reconnecting
   */
  Connection connection() throws IOException, InterruptedException {
    if (connection == null) {
      try {
        connection = Nats.connect(settings.options(log));
      } catch (AuthenticationException | IllegalArgumentException e) {
        throw new ConnectException("cannot connect to NATS at " + settings + ": " + e.getMessage(), e);
      } catch (IOException e) {
        throw new IOException("cannot connect to NATS at " + settings + ": " + log.cause().orElse(e.getMessage()), e);
      }
    }
    if (connection.getStatus() == Connection.Status.CLOSED) {
      // The client stops only after repeated authentication errors.
      throw new ConnectException(
          "NATS at " + settings + " ended the connection for good: " + connection.getLastError());
    }
    if (connection.getStatus() != Connection.Status.CONNECTED) {
      throw new IOException("the connection to NATS at " + settings + " is lost");
    }
    return connection;
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
