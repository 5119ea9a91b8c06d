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

/** NATS address and credentials, shared by source and sink. */
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

  static ConfigDef addTo(ConfigDef def) {
    int order = 0;
    return def.define(
            URL, Type.LIST, List.of(), Validators.each("host:port, nats://host:port or tls://host:port, without user"
                + " and password", "((nats|tls)://)?[^/@\\s,]+"), Importance.HIGH,
            "Comma-separated list of NATS servers, each host:port, with the prefix tls:// for TLS. Default: the servers"
                + " of the context.",
            GROUP, ++order, Width.LONG, "NATS servers")
        .define(
            CONTEXT, Type.STRING, null, Importance.MEDIUM,
            "Context of the 'nats' command that provides servers and credentials: a name in ~/.config/nats/context of"
                + " the worker's user, or the absolute path of a file. The other settings override it.",
            GROUP, ++order, Width.MEDIUM, "NATS context")
        .define(
            USER, Type.STRING, null, Importance.MEDIUM, "User name.",
            GROUP, ++order, Width.MEDIUM, "User")
        .define(
            PASSWORD, Type.PASSWORD, null, Importance.MEDIUM,
            "Password of the user. Use a ConfigProvider, such as ${file:/etc/connect/nats.properties:password}.",
            GROUP, ++order, Width.MEDIUM, "Password", Validators.visibleWith(USER))
        .define(
            TOKEN, Type.PASSWORD, null, Importance.LOW, "Token, if the cluster requires one instead of a user.",
            GROUP, ++order, Width.MEDIUM, "Token")
        .define(
            CREDS, Type.STRING, null, Validators.FILE, Importance.MEDIUM, "Credentials file with a JWT and an nkey.",
            GROUP, ++order, Width.LONG, "Credentials file")
        .define(
            NKEY, Type.STRING, null, Validators.FILE, Importance.LOW, "File with the seed of an nkey.",
            GROUP, ++order, Width.LONG, "Nkey file")
        .define(
            TLS_CA, Type.STRING, null, Validators.FILE, Importance.MEDIUM,
            "PEM file of the CA certificates that verify the servers; enables TLS. Default: the CA certificates of the"
                + " Java installation.",
            GROUP, ++order, Width.LONG, "CA certificates")
        .define(
            TLS_CERT, Type.STRING, null, Validators.FILE, Importance.LOW,
            "PEM file of the client certificate, if the servers require one.",
            GROUP, ++order, Width.LONG, "TLS certificate")
        .define(
            TLS_KEY, Type.STRING, null, Validators.FILE, Importance.LOW,
            "PEM file (PKCS #8) of the certificate's private key.",
            GROUP, ++order, Width.LONG, "TLS private key", Validators.visibleWith(TLS_CERT))
        .define(
            TLS_FIRST, Type.BOOLEAN, false, Importance.LOW,
            "Whether the TLS handshake precedes the server's INFO line (handshake_first of the server).",
            GROUP, ++order, Width.SHORT, "TLS handshake first")
        .define(
            DOMAIN, Type.STRING, null, Importance.LOW, "JetStream domain of the stream. Default: the server's domain.",
            GROUP, ++order, Width.MEDIUM, "JetStream domain")
        .define(
            CONNECT_TIMEOUT, Type.INT, 5_000, Range.between(100, 300_000), Importance.LOW,
            "Timeout of one connection attempt in milliseconds.",
            GROUP, ++order, Width.SHORT, "Connect timeout")
        .define(
            RETRY_TIMEOUT, Type.LONG, 600_000L, Range.atLeast(-1), Importance.MEDIUM,
            "Time in milliseconds for which a task retries while NATS is unreachable or does not respond. Then it"
                + " fails. -1: unlimited.",
            GROUP, ++order, Width.SHORT, "Retry timeout");
  }

  /**
   * Resolves the settings and the context.
   *
   * @param name of the connection in the broker's monitoring
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
      throw new IllegalArgumentException("no NATS server is configured: set " + URL + " or " + CONTEXT);
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
