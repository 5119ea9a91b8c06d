package io.lifeline.nats;

import io.nats.client.Nats;
import io.nats.client.Options;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * NATS address and credentials, from the settings of a job or a connector, or from a context of the {@code nats}
 * command. Immutable; unset values are null.
 *
 * @param name name of the connection in the broker's monitoring
 * @param servers {@code host:port} or {@code nats://host:port} or {@code tls://host:port} each
 * @param user user name, with a password
 * @param creds file with a JWT and an nkey seed
 * @param nkey file with an nkey seed
 * @param tls whether to use TLS even if no other setting requires it
 * @param tlsFirst whether the handshake comes before the server's first line
 * @param authority PEM file of CA certificates that verify the broker; enables TLS
 * @param certificate PEM file of the client's certificate
 * @param key PEM file (PKCS #8) of the client's private key
 * @param connectTimeout timeout of one attempt
 */
public record ConnectionSettings(
    String name,
    List<String> servers,
    String user,
    String password,
    String token,
    Path creds,
    Path nkey,
    boolean tls,
    boolean tlsFirst,
    Path authority,
    Path certificate,
    Path key,
    Duration connectTimeout) {

  private static final Duration RECONNECT_WAIT = Duration.ofMillis(500);

  /**
   * After {@link #MAX_PINGS_OUT} unanswered ones the client reconnects: a dead peer, or a reader thread that ended,
   * costs at most 80 seconds. Much less would drop the connections of a process that a busy machine merely slows down.
   */
  private static final Duration PING_INTERVAL = Duration.ofSeconds(20);

  private static final int MAX_PINGS_OUT = 3;

  public ConnectionSettings {
    servers = List.copyOf(servers);
  }

  /** Returns whether the connection is encrypted. */
  public boolean usesTls() {
    return tls
        || tlsFirst
        || Stream.of(authority, certificate, key).anyMatch(Objects::nonNull)
        || servers.stream().anyMatch(server -> server.startsWith("tls://"));
  }

  /**
   * Returns the client's options. After the first connection the client reconnects indefinitely.
   *
   * @throws IllegalArgumentException with a message for the user, without secrets, if a file cannot be used
   */
  public Options options(ConnectionLog log) {
    Options.Builder options =
        new Options.Builder()
            .connectionName(name)
            .connectionTimeout(connectTimeout)
            .reconnectWait(RECONNECT_WAIT)
            .maxReconnects(-1)
            .dataPortType(GuardedDataPort.class.getName())
            .pingInterval(PING_INTERVAL)
            .maxPingsOut(MAX_PINGS_OUT)
            .errorListener(log)
            .connectionListener(log);
    String scheme = usesTls() ? "tls://" : "nats://";
    servers.forEach(server -> options.server(scheme + server.replaceFirst("^(nats|tls)://", "")));
    identify(options);
    if (usesTls()) {
      // A cluster announces its other servers by IP address, which certificates rarely contain: list them by name
      // instead.
      options.ignoreDiscoveredServers();
      options.sslContext(TlsContext.of(readable(authority), readable(certificate), readable(key)));
      if (tlsFirst) {
        options.tlsFirst();
      }
    }
    return options.build();
  }

  private void identify(Options.Builder options) {
    if (creds != null) {
      options.authHandler(Nats.credentials(readable(creds).orElseThrow().toString()));
    } else if (nkey != null) {
      options.authHandler(Nats.staticCredentials(null, seed(readable(nkey).orElseThrow())));
    } else if (token != null) {
      options.token(token.toCharArray());
    } else if (user != null) {
      if (password == null) {
        throw new IllegalArgumentException("a user is given but no password");
      }
      options.userInfo(user.toCharArray(), password.toCharArray());
    }
  }

  private static char[] seed(Path file) {
    try {
      return Files.readString(file, StandardCharsets.US_ASCII).strip().toCharArray();
    } catch (IOException e) {
      throw new IllegalArgumentException(file + ": cannot be read");
    }
  }

  private static Optional<Path> readable(Path file) {
    if (file != null && !Files.isReadable(file)) {
      throw new IllegalArgumentException(file + ": there is no such file, or it cannot be read");
    }
    return Optional.ofNullable(file);
  }

  /** Returns the servers, without secrets. */
  @Override
  public String toString() {
    return String.join(",", servers);
  }
}
