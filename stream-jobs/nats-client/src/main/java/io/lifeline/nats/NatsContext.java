package io.lifeline.nats;

import io.nats.client.support.JsonParseException;
import io.nats.client.support.JsonParser;
import io.nats.client.support.JsonValue;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A context of the {@code nats} command: named servers and credentials, in {@code ~/.config/nats/context/NAME.json}, so
 * that they need not be configured twice.
 */
public final class NatsContext {

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]+");
  private static final Pattern CREDENTIALS = Pattern.compile("^(\\w+://)?([^/]*)@");

  private final Path file;
  private final String home;
  private final JsonValue json;

  private NatsContext(Path file, String home, JsonValue json) {
    this.file = file;
    this.home = home;
    this.json = json;
  }

  /**
   * Reads a context.
   *
   * @param nameOrFile a name, or the absolute path of a context's file
   * @param environment for {@code XDG_CONFIG_HOME} and {@code HOME}; usually {@code System.getenv()}
   * @throws IllegalArgumentException with a message for the user if the context does not exist or is invalid
   */
  public static NatsContext read(String nameOrFile, Map<String, String> environment) {
    String home = environment.getOrDefault("HOME", System.getProperty("user.home"));
    Path file = locate(nameOrFile, environment.getOrDefault("XDG_CONFIG_HOME", home + "/.config"));
    try {
      JsonValue json = JsonParser.parse(Files.readString(file));
      if (json.map == null) {
        throw new IllegalArgumentException(file + " is not a context: it contains no JSON object");
      }
      return new NatsContext(file, home, json);
    } catch (JsonParseException e) {
      throw new IllegalArgumentException(file + " is not a context: it contains no JSON");
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "the NATS context '" + nameOrFile + "' cannot be read from " + file
              + "; see 'nats context ls', as this user");
    }
  }

  private static Path locate(String nameOrFile, String configuration) {
    if (nameOrFile.startsWith("/")) {
      return Path.of(nameOrFile);
    }
    if (!NAME.matcher(nameOrFile).matches()) {
      throw new IllegalArgumentException("'" + nameOrFile + "' is neither a context name nor an absolute path");
    }
    return Path.of(configuration, "nats", "context", nameOrFile + ".json");
  }

  /**
   * Returns {@code host:port} or URLs, without user and password, so that they can be logged; empty if there are none.
   */
  public List<String> servers() {
    return urls().map(url -> CREDENTIALS.matcher(url).replaceFirst("$1")).toList();
  }

  public Optional<String> user() {
    return text("user").or(() -> ofUrl().filter(parts -> parts.length == 2).map(parts -> parts[0]));
  }

  /** Returns the password; it must never be logged. */
  public Optional<String> password() {
    return text("password").or(() -> ofUrl().filter(parts -> parts.length == 2).map(parts -> parts[1]));
  }

  /** Returns the token; it must never be logged. */
  public Optional<String> token() {
    return text("token").or(() -> ofUrl().filter(parts -> parts.length == 1).map(parts -> parts[0]));
  }

  public Optional<Path> creds() {
    return path("creds");
  }

  public Optional<Path> nkey() {
    return path("nkey");
  }

  public Optional<Path> authority() {
    return path("ca");
  }

  public Optional<Path> certificate() {
    return path("cert");
  }

  public Optional<Path> key() {
    return path("key");
  }

  public boolean tlsFirst() {
    JsonValue value = json.map.get("tls_first");
    return value != null && Boolean.TRUE.equals(value.bool);
  }

  public Optional<String> jetStreamDomain() {
    return text("jetstream_domain");
  }

  private Stream<String> urls() {
    return text("url").stream().flatMap(urls -> Arrays.stream(urls.split(","))).map(String::strip);
  }

  /** Returns user and password, or only a token, from the first URL that has them; all URLs of a cluster share them. */
  private Optional<String[]> ofUrl() {
    return urls()
        .map(CREDENTIALS::matcher)
        .filter(Matcher::find)
        .findFirst()
        .map(url -> Stream.of(url.group(2).split(":", 2)).map(NatsContext::unescaped).toArray(String[]::new));
  }

  /** Decodes percent escapes; {@code +} stays as it is. */
  private static String unescaped(String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return text; // a % that is not an escape
    }
  }

  private Optional<String> text(String name) {
    JsonValue value = json.map.get(name);
    return value == null ? Optional.empty() : Optional.ofNullable(value.string).filter(text -> !text.isEmpty());
  }

  /**
   * Resolves a path as the command does: {@code ~} is the home directory, and relative paths start at the context's
   * folder.
   */
  private Optional<Path> path(String name) {
    return text(name)
        .map(text -> text.startsWith("~/") ? home + text.substring(1) : text)
        .map(file::resolveSibling);
  }
}
