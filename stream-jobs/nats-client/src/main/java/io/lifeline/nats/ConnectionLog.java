package io.lifeline.nats;

import io.nats.client.Connection;
import io.nats.client.ConnectionListener;
import io.nats.client.Consumer;
import io.nats.client.ErrorListener;
import io.nats.client.JetStreamSubscription;
import io.nats.client.support.Status;
import java.security.GeneralSecurityException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs connection events; users of the connection notice the effects themselves. */
public final class ConnectionLog implements ConnectionListener, ErrorListener {

  private static final Logger LOG = LoggerFactory.getLogger(ConnectionLog.class);

  private final AtomicLong connections = new AtomicLong();
  private volatile boolean connected;
  private volatile String untrusted;

  /** Returns the number of connections made; a change means that the broker may have lost its state. */
  public long connections() {
    return connections.get();
  }

  @Override
  public void connectionEvent(Connection connection, Events event) {
    switch (event) {
      case CONNECTED -> {
        connections.incrementAndGet();
        connected = true;
      }
      case DISCONNECTED -> {
        // Every failed attempt is an event too.
        if (connected) {
          LOG.warn("lost the connection to the broker; reconnecting");
        }
        connected = false;
      }
      case RECONNECTED -> {
        connections.incrementAndGet();
        connected = true;
        LOG.info("connected to the broker again");
      }
      default -> LOG.debug("connection: {}", event);
    }
  }

  @Override
  public void errorOccurred(Connection connection, String error) {
    LOG.warn("the broker reports: {}", error);
  }

  @Override
  public void exceptionOccurred(Connection connection, Exception exception) {
    LOG.debug("connection: {}", exception.toString());
    Throwable root = exception;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    if (root instanceof GeneralSecurityException) {
      untrusted = root.getMessage();
    }
  }

  /** Returns why the TLS handshake failed; the client itself does not report it. */
  public Optional<String> cause() {
    return Optional.ofNullable(untrusted);
  }

  @Override
  public void slowConsumerDetected(Connection connection, Consumer consumer) {
    LOG.debug("the broker delivers faster than messages are read");
  }

  @Override
  public void heartbeatAlarm(Connection connection, JetStreamSubscription subscription, long stream, long consumer) {
    LOG.debug("no heartbeat from the broker");
  }

  @Override
  public void pullStatusError(Connection connection, JetStreamSubscription subscription, Status status) {
    LOG.debug("pull ended: {}", status);
  }
}
