package io.lifeline.jobs.jetstream;

import io.lifeline.codec.Fnv1a;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.config.BrokerUrl;
import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.ConfigKey;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.lifeline.nats.ConnectionLog;
import io.lifeline.nats.TlsContext;
import io.nats.client.Nats;
import io.nats.client.Options;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;

/** What the configuration means for NATS: how to connect, and what things are called. */
final class NatsSettings {

  /** What the stream of the results has behind the name of the batches' one; derived streams are in there, too. */
  private static final String OUTPUT = "_OUT";

  /** As many subjects as emitters spread their batches over (FORMAT.md, section 12). */
  static final int SUBJECTS = 16;

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration RECONNECT_WAIT = Duration.ofMillis(500);

  private final JobConfig config;
  private final BrokerUrl url;

  NatsSettings(JobConfig config) {
    this.config = config;
    this.url = config.get(Keys.BROKER_URL_KEY);
  }

  /** Where the broker is, without secrets. */
  String shownUrl() {
    return url.toString();
  }

  /** Whether anybody takes connections there: then it is not for want of a broker that one fails. */
  boolean isListening() {
    return url.servers().stream().anyMatch(NatsSettings::takesConnections);
  }

  private static boolean takesConnections(String server) {
    int colon = server.lastIndexOf(':');
    String host = server.substring(0, colon).replaceAll("[\\[\\]]", "");
    try (Socket socket = new Socket()) {
      socket.connect(
          new InetSocketAddress(host, Integer.parseInt(server.substring(colon + 1))), (int) CONNECT_TIMEOUT.toMillis());
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  String stream() {
    return url.parameters().getOrDefault("stream", config.get(Keys.NATS_STREAM));
  }

  String outputStream() {
    return config
        .find(Keys.NATS_OUTPUT_STREAM)
        .orElseGet(() -> stream().endsWith(OUTPUT) ? stream() : stream() + OUTPUT);
  }

  String bucket() {
    return config.get(Keys.NATS_BUCKET);
  }

  /** Which of the subjects is an emitter's. */
  static int subject(Incarnation emitter) {
    byte[] bytes = ByteBuffer.allocate(16).putLong(emitter.high()).putLong(emitter.low()).array();
    return (int) Long.remainderUnsigned(Fnv1a.hash(bytes), SUBJECTS);
  }

  /** The subjects of one group: every {@code groups}-th of the sixteen. */
  String[] subjects(int group, int groups) {
    return groups == 1
        ? new String[] {url.path() + ".*"}
        : IntStream.range(0, SUBJECTS)
            .filter(p -> p % groups == group)
            .mapToObj(p -> url.path() + "." + p)
            .toArray(String[]::new);
  }

  /** How to connect: for ever once a first connection stood. */
  Options options(ConnectionLog log) {
    Options.Builder options =
        new Options.Builder()
            .connectionName("lifeline-jobs")
            .connectionTimeout(CONNECT_TIMEOUT)
            .reconnectWait(RECONNECT_WAIT)
            .maxReconnects(-1)
            .errorListener(log)
            .connectionListener(log);
    url.servers().forEach(server -> options.server((config.usesTls() ? "tls://" : "nats://") + server));
    config.user().ifPresent(user -> options.userInfo(user.toCharArray(), password().toCharArray()));
    file(Keys.BROKER_NATS_CREDS, "creds").ifPresent(creds -> options.authHandler(Nats.credentials(creds.toString())));
    if (config.usesTls()) {
      // A cluster tells of its other servers by address, which certificates rarely hold: name them in the URL.
      options.ignoreDiscoveredServers();
      options.sslContext(tlsContext());
    }
    return options.build();
  }

  private SSLContext tlsContext() {
    Optional<Path> authority = file(Keys.BROKER_TLS_CA, "tls_ca");
    Optional<Path> certificate = file(Keys.BROKER_TLS_CERT, "tls_cert");
    Optional<Path> key = file(Keys.BROKER_TLS_KEY, "tls_key");
    try {
      return TlsContext.of(authority, certificate, key);
    } catch (IllegalArgumentException e) {
      throw new ConfigException("broker.tls: " + e.getMessage());
    }
  }

  private String password() {
    return config
        .password()
        .orElseThrow(
            () ->
                new ConfigException(
                    "a user is given but no password: set " + Keys.BROKER_PASSWORD_FILE.name() + " to a file with it"));
  }

  private Optional<Path> file(ConfigKey<Path> key, String parameter) {
    Optional<Path> file = config.find(key).or(() -> Optional.ofNullable(url.parameters().get(parameter)).map(Path::of));
    file.ifPresent(
        path -> {
          if (!Files.isReadable(path)) {
            throw new ConfigException(key.name() + "=" + path + ": there is no such file, or it cannot be read");
          }
        });
    return file;
  }
}
