package io.lifeline.connect.nats;

import io.lifeline.nats.ConnectionSettings;
import io.lifeline.nats.NatsContext;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Range;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigDef.Width;
import org.apache.kafka.common.config.types.Password;

/** The settings that source and sink share: where NATS is, and who to be there. */
final class ConnectionConfig {

  static final String GROUP = "Connection";

  static final String URL = "nats.url";
  static final String CONTEXT = "nats.context";
  static final String USER = "nats.user";
  static final String PASSWORD = "nats.password";
  static final String TOKEN = "nats.token";
  static final String CREDS = "nats.creds.file";
  static final String NKEY = "nats.nkey.file";
  static final String TLS_CA = "nats.tls.ca.file";
  static final String TLS_CERT = "nats.tls.cert.file";
  static final String TLS_KEY = "nats.tls.key.file";
  static final String TLS_FIRST = "nats.tls.first";
  static final String DOMAIN = "nats.jetstream.domain";
  static final String CONNECT_TIMEOUT = "nats.connect.timeout.ms";
  static final String RETRY_TIMEOUT = "nats.retry.timeout.ms";

  private ConnectionConfig() {}

  /** Adds the settings to those of a connector. */
  static ConfigDef addTo(ConfigDef def) {
    int order = 0;
    return def.define(
            URL, Type.LIST, List.of(), Validators.each("host:port, nats://host:port or tls://host:port, without user"
                + " and password", "((nats|tls)://)?[^/@\\s,]+"), Importance.HIGH,
            "Servers of the NATS cluster, separated by commas: host:port each, with tls:// in front to have TLS. If"
                + " left out, the context's.",
            GROUP, ++order, Width.LONG, "NATS servers")
        .define(
            CONTEXT, Type.STRING, null, Importance.MEDIUM,
            "Context of the 'nats' command to take servers and credentials from: a name, looked for in"
                + " ~/.config/nats/context of the worker's user, or the absolute path of the file. The other settings"
                + " go before it.",
            GROUP, ++order, Width.MEDIUM, "NATS context")
        .define(
            USER, Type.STRING, null, Importance.MEDIUM, "User name.",
            GROUP, ++order, Width.MEDIUM, "User")
        .define(
            PASSWORD, Type.PASSWORD, null, Importance.MEDIUM,
            "Password of the user; best given through a ConfigProvider, as"
                + " ${file:/etc/connect/nats.properties:password}.",
            GROUP, ++order, Width.MEDIUM, "Password", Validators.visibleWith(USER))
        .define(
            TOKEN, Type.PASSWORD, null, Importance.LOW, "Token, where the cluster asks for one instead of a user.",
            GROUP, ++order, Width.MEDIUM, "Token")
        .define(
            CREDS, Type.STRING, null, Validators.FILE, Importance.MEDIUM, "Credentials file, with a JWT and an nkey.",
            GROUP, ++order, Width.LONG, "Credentials file")
        .define(
            NKEY, Type.STRING, null, Validators.FILE, Importance.LOW, "File with the seed of an nkey.",
            GROUP, ++order, Width.LONG, "Nkey file")
        .define(
            TLS_CA, Type.STRING, null, Validators.FILE, Importance.MEDIUM,
            "PEM file of the authorities that may vouch for the servers; turns TLS on. Without it, those of the Java"
                + " installation count.",
            GROUP, ++order, Width.LONG, "TLS authorities")
        .define(
            TLS_CERT, Type.STRING, null, Validators.FILE, Importance.LOW,
            "PEM file of the client's certificate, for servers that ask for one.",
            GROUP, ++order, Width.LONG, "TLS certificate")
        .define(
            TLS_KEY, Type.STRING, null, Validators.FILE, Importance.LOW,
            "PEM file (PKCS #8) of the certificate's private key.",
            GROUP, ++order, Width.LONG, "TLS private key", Validators.visibleWith(TLS_CERT))
        .define(
            TLS_FIRST, Type.BOOLEAN, false, Importance.LOW,
            "Whether the TLS handshake comes before the server's first line (handshake_first of the server).",
            GROUP, ++order, Width.SHORT, "TLS handshake first")
        .define(
            DOMAIN, Type.STRING, null, Importance.LOW, "JetStream domain, if the stream lies in another than the"
                + " server's.",
            GROUP, ++order, Width.MEDIUM, "JetStream domain")
        .define(
            CONNECT_TIMEOUT, Type.INT, 5_000, Range.between(100, 300_000), Importance.LOW,
            "How long one attempt to connect may take, in milliseconds.",
            GROUP, ++order, Width.SHORT, "Connect timeout")
        .define(
            RETRY_TIMEOUT, Type.LONG, 600_000L, Range.atLeast(-1), Importance.MEDIUM,
            "How long a task tries again while NATS is away or does not serve, in milliseconds. After that it fails, so"
                + " that somebody sees it. -1: for ever.",
            GROUP, ++order, Width.SHORT, "Retry timeout");
  }

  /**
   * What the settings mean.
   *
   * @param name what the broker's monitoring calls the connection
   * @throws IllegalArgumentException with a message for the user, without secrets
   */
  static ConnectionSettings settings(AbstractConfig config, String name, Map<String, String> environment) {
    Optional<NatsContext> context =
        Optional.ofNullable(config.getString(CONTEXT)).map(wanted -> NatsContext.read(wanted, environment));
    List<String> servers = config.getList(URL);
    if (servers.isEmpty()) {
      servers = context.map(NatsContext::servers).orElse(List.of());
    }
    if (servers.isEmpty()) {
      throw new IllegalArgumentException("set " + URL + " or " + CONTEXT + ", to say where NATS is");
    }
    return new ConnectionSettings(
        name,
        servers,
        own(config.getString(USER), context.flatMap(NatsContext::user)),
        own(secret(config, PASSWORD), context.flatMap(NatsContext::password)),
        own(secret(config, TOKEN), context.flatMap(NatsContext::token)),
        own(path(config, CREDS), context.flatMap(NatsContext::creds)),
        own(path(config, NKEY), context.flatMap(NatsContext::nkey)),
        false,
        config.getBoolean(TLS_FIRST) || context.map(NatsContext::tlsFirst).orElse(false),
        own(path(config, TLS_CA), context.flatMap(NatsContext::authority)),
        own(path(config, TLS_CERT), context.flatMap(NatsContext::certificate)),
        own(path(config, TLS_KEY), context.flatMap(NatsContext::key)),
        Duration.ofMillis(config.getInt(CONNECT_TIMEOUT)));
  }

  /** The JetStream domain, or null. */
  static String domain(AbstractConfig config, Map<String, String> environment) {
    String wanted = config.getString(CONTEXT);
    return own(
        config.getString(DOMAIN),
        Optional.ofNullable(wanted).flatMap(name -> NatsContext.read(name, environment).jetStreamDomain()));
  }

  private static <T> T own(T value, Optional<T> ofContext) {
    return value != null ? value : ofContext.orElse(null);
  }

  private static String secret(AbstractConfig config, String name) {
    Password password = config.getPassword(name);
    return password == null ? null : password.value();
  }

  private static Path path(AbstractConfig config, String name) {
    String text = config.getString(name);
    return text == null ? null : Path.of(text);
  }
}
