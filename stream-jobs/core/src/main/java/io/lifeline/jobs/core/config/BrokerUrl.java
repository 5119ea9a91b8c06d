package io.lifeline.jobs.core.config;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Broker URL, as used by emitters: {@code nats://[user:password@]host:port[,host:port]/[prefix]?key=value} or {@code
 * kafka://host:port[,host:port]/[topic]?key=value}.
 *
 * @param servers {@code host:port} each
 * @param path the subject prefix or topic of the batches
 * @param user from the URL, or null
 * @param password from the URL, or null
 */
public record BrokerUrl(
    Scheme scheme, List<String> servers, String path, String user, String password, Map<String, String> parameters) {

  /** The brokers that jobs run on. */
  public enum Scheme {
    NATS(4222, "creds", "mode", "stream"),
    KAFKA(9092);

    private final int defaultPort;
    private final List<String> parameters;

    Scheme(int defaultPort, String... parameters) {
      this.defaultPort = defaultPort;
      this.parameters = Stream.concat(ofBoth(), Arrays.stream(parameters)).sorted().toList();
    }

    /** Some apply to emitters only; they are accepted so that jobs and emitters can use the same URL. */
    private static Stream<String> ofBoth() {
      return Stream.of("control", "max_in_flight", "tls", "tls_ca", "tls_cert", "tls_key");
    }

    private boolean knows(String parameter) {
      return parameters.contains(parameter) || this == KAFKA && parameter.startsWith("kafka.");
    }

    private String known() {
      return String.join(", ", parameters) + (this == KAFKA ? ", kafka.<setting of librdkafka>" : "");
    }
  }

  public static final String DEFAULT_PATH = "lifeline.batches";
  static final String ALLOWED =
      "nats://[user:password@]host:port[,host:port][/prefix][?key=value] or kafka://host:port[,host:port][/topic]";

  private static final Pattern URL =
      Pattern.compile("(nats|kafka)://(?:([^/@?]*)@)?([^/?@]+)(?:/([A-Za-z0-9._-]*))?(?:\\?(.*))?");
  private static final Pattern SERVER = Pattern.compile("(\\[[0-9A-Fa-f:.]+]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?");

  static BrokerUrl parse(String text) {
    Matcher url = URL.matcher(text);
    require(url.matches());
    Scheme scheme = Scheme.valueOf(url.group(1).toUpperCase(Locale.ROOT));
    String[] userInfo = url.group(2) == null ? new String[0] : url.group(2).split(":", 2);
    List<String> servers =
        Arrays.stream(url.group(3).split(",", -1)).map(s -> server(s, scheme.defaultPort)).toList();
    String path = url.group(4) == null || url.group(4).isEmpty() ? DEFAULT_PATH : url.group(4);
    return new BrokerUrl(
        scheme,
        servers,
        path,
        userInfo.length > 0 ? decode(userInfo[0]) : null,
        userInfo.length > 1 ? decode(userInfo[1]) : null,
        parameters(scheme, url.group(5)));
  }

  private static String server(String text, int defaultPort) {
    Matcher server = SERVER.matcher(text);
    require(server.matches());
    int port = server.group(2) == null ? defaultPort : Integer.parseInt(server.group(2));
    require(port >= 1 && port <= 65535);
    return server.group(1) + ":" + port;
  }

  private static Map<String, String> parameters(Scheme scheme, String query) {
    Map<String, String> parameters = new LinkedHashMap<>();
    if (query != null && !query.isEmpty()) {
      for (String pair : query.split("&")) {
        String[] parts = pair.split("=", 2);
        require(parts.length == 2 && !parts[0].isEmpty());
        parameters.put(decode(parts[0]), decode(parts[1]));
      }
    }
    for (String parameter : parameters.keySet()) {
      if (!scheme.knows(parameter)) {
        throw new ConfigException(
            Keys.BROKER_URL_KEY.name() + ": the URL's parameter '" + parameter + "' is unknown; those of a "
                + scheme.name().toLowerCase(Locale.ROOT) + " URL are " + scheme.known());
      }
    }
    require(List.of("true", "false").contains(parameters.getOrDefault("tls", "false")));
    return Map.copyOf(parameters);
  }

  private static String decode(String text) {
    return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  private static void require(boolean condition) {
    if (!condition) {
      throw new IllegalArgumentException();
    }
  }

  /** Returns the URL for logs: without user, password and parameters. */
  @Override
  public String toString() {
    return scheme.name().toLowerCase(Locale.ROOT) + "://" + String.join(",", servers) + "/" + path;
  }
}
