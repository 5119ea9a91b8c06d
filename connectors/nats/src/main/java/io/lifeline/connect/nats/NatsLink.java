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
 * A task's connection. It is made when it is first wanted, and a broker that is away then is no worse than one that
 * goes later: a worker may well be started before it.
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
   * The connection, which stands unless it was lost since: then the client makes it again by itself.
   *
   * @throws IOException if there is none now
   * @throws ConnectException if there will be none with these settings, or the client has given up on it
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
      // It does so only when the broker refuses the credentials again and again.
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
