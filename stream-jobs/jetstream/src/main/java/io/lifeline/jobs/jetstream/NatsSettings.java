package io.lifeline.jobs.jetstream;

import io.lifeline.codec.Fnv1a;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.Placement;
import io.lifeline.jobs.core.config.BrokerUrl;
import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.ConfigKey;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.lifeline.nats.ConnectionLog;
import io.lifeline.nats.ConnectionSettings;
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

/** NATS connection options and resource names, from the configuration. */
final class NatsSettings {

  /** Suffix of the output stream, which holds results and derived streams. */
  private static final String OUTPUT = "_OUT";

  /** Number of subjects that emitters spread their batches over (FORMAT.md, section 12). */
  static final int SUBJECTS = 16;

  private static final String FORMER_BUCKET = "lifeline-jobs";

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

  private final JobConfig config;
  private final BrokerUrl url;

  NatsSettings(JobConfig config) {
    this.config = config;
    this.url = config.get(Keys.BROKER_URL_KEY);
  }

  /** Returns the broker's URL without secrets. */
  String shownUrl() {
    return url.toString();
  }

  /** Returns whether a server accepts connections; if so, a failure to connect has another cause. */
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
    return config.find(Keys.NATS_BUCKET).orElse(config.get(Keys.NAMES_PREFIX).replace('.', '_') + "-jobs");
  }

  /** Returns the default bucket of earlier releases; null if it still is the default, or the bucket is configured. */
  String formerBucket() {
    return config.find(Keys.NATS_BUCKET).isPresent() || bucket().equals(FORMER_BUCKET) ? null : FORMER_BUCKET;
  }

  /** Returns the subject index of an emitter. */
  static int subject(Incarnation emitter) {
    byte[] bytes = ByteBuffer.allocate(16).putLong(emitter.high()).putLong(emitter.low()).array();
    return (int) Long.remainderUnsigned(Fnv1a.hash(bytes), SUBJECTS);
  }

  /** Returns which emitters belong to one group: those whose subject is among its {@link #subjects}. */
  Placement placement(int group, int groups) {
    return (emitter, position) -> {
      int subject = subject(emitter);
      return subject % groups == group ? null : "the subject " + url.path() + "." + subject;
    };
  }

  /** Returns the subjects of one group: every {@code groups}-th of the sixteen. */
  String[] subjects(int group, int groups) {
    return groups == 1
        ? new String[] {url.path() + ".*"}
        : IntStream.range(0, SUBJECTS)
            .filter(p -> p % groups == group)
            .mapToObj(p -> url.path() + "." + p)
            .toArray(String[]::new);
  }

  /** Returns the connection options; after the first connection the client reconnects indefinitely. */
  Options options(ConnectionLog log) {
    boolean tls = config.usesTls();
    Optional<String> user = config.user();
    ConnectionSettings settings =
        new ConnectionSettings(
            "lifeline-jobs",
            url.servers(),
            user.orElse(null),
            user.isPresent() ? password() : null,
            null,
            file(Keys.BROKER_NATS_CREDS, "creds"),
            null,
            tls,
            false,
            tls ? file(Keys.BROKER_TLS_CA, "tls_ca") : null,
            tls ? file(Keys.BROKER_TLS_CERT, "tls_cert") : null,
            tls ? file(Keys.BROKER_TLS_KEY, "tls_key") : null,
            CONNECT_TIMEOUT);
    try {
      return settings.options(log);
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

  /** Returns the file from the setting, or else from the URL's parameter; null if neither is given. */
  private Path file(ConfigKey<Path> key, String parameter) {
    Path file =
        config.find(key).or(() -> Optional.ofNullable(url.parameters().get(parameter)).map(Path::of)).orElse(null);
    if (file != null && !Files.isReadable(file)) {
      throw new ConfigException(key.name() + "=" + file + ": there is no such file, or it cannot be read");
    }
    return file;
  }
}
