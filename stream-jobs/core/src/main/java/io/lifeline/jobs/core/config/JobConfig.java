package io.lifeline.jobs.core.config;

import io.lifeline.jobs.core.Destination;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The effective configuration. The command line overrides the environment, which overrides the properties file, which
 * overrides the defaults. All values are checked when they are loaded, so {@link #get} cannot fail on an invalid value.
 */
public final class JobConfig {

  /** Source of a value. */
  public enum Origin {
    DEFAULT,
    FILE,
    ENVIRONMENT,
    COMMAND_LINE
  }

  private record Setting(String text, Origin origin) {}

  private final Map<String, Setting> settings;
  private final Map<ConfigKey<?>, Object> values = new LinkedHashMap<>();

  private JobConfig(Map<String, Setting> settings) {
    this.settings = settings;
    for (ConfigKey<?> key : Keys.all()) {
      Setting setting = settings.get(key.name());
      if (setting != null) {
        values.put(key, key.parse(setting.text()));
      }
    }
  }

  /**
   * @param file the properties file, or null
   * @param environment usually {@code System.getenv()}
   * @param overrides settings of the command line
   */
  public static JobConfig load(Path file, Map<String, String> environment, Map<String, String> overrides) {
    Map<String, Setting> settings = new TreeMap<>();
    for (ConfigKey<?> key : Keys.all()) {
      if (key.defaultText() != null) {
        settings.put(key.name(), new Setting(key.defaultText(), Origin.DEFAULT));
      }
    }
    if (file != null) {
      readFile(file).forEach((name, value) -> set(settings, checkName(name, file.toString()), value, Origin.FILE));
    }
    for (ConfigKey<?> key : Keys.all()) {
      String value = environment.get(key.environmentVariable());
      if (value != null) {
        set(settings, key.name(), value, Origin.ENVIRONMENT);
      }
    }
    kafkaEnvironment(environment, settings);
    filterEnvironment(environment, settings);
    overrides.forEach((name, value) -> set(settings, checkName(name, "--set"), value, Origin.COMMAND_LINE));
    return new JobConfig(settings);
  }

  /** Returns the value of a setting that has a default or must be set. */
  public <T> T get(ConfigKey<T> key) {
    return find(key)
        .orElseThrow(
            () ->
                new ConfigException(
                    key.name() + " is not set: " + key.description() + " Expected " + key.type().allowed()));
  }

  /** Returns the value of an optional setting. */
  @SuppressWarnings("unchecked") // values were parsed by the key's own type
  public <T> Optional<T> find(ConfigKey<T> key) {
    return Optional.ofNullable((T) values.get(key));
  }

  /** Returns the settings under {@code kafka.}, without that prefix: native names of the Kafka clients. */
  public Map<String, String> kafka() {
    return under(Keys.KAFKA_PREFIX);
  }

  /** Returns the conditions under {@code filter.}, by the name of their derived stream. */
  public Map<String, String> filters() {
    return under(Keys.FILTER_PREFIX);
  }

  /** Returns the name of the derived stream that is the input; empty if the input is the emitters' own batches. */
  public Optional<String> derivedInput() {
    String path = get(Keys.BROKER_URL_KEY).path();
    int at = path.lastIndexOf(Destination.DERIVED);
    return at < 0 ? Optional.empty() : Optional.of(path.substring(at + Destination.DERIVED.length()).replace('.', '_'));
  }

  /** Returns the name of a job's derived stream, after checking that it has no other source and is not the input. */
  public String derivedStream(ConfigKey<String> key) {
    String stream = get(key);
    String setting = key.name() + "=" + stream;
    if (filters().containsKey(stream)) {
      throw new ConfigException(setting + ": " + Keys.FILTER_PREFIX + stream + " fills that stream already");
    }
    for (ConfigKey<String> other : List.of(Keys.PAIR_TO, Keys.RATE_TO)) {
      String job = other.name().substring(0, other.name().indexOf('.'));
      if (other != key && get(other).equals(stream) && get(Keys.JOBS).contains(job)) {
        throw new ConfigException(setting + ": " + other.name() + " names that stream already");
      }
    }
    checkOutput(setting, stream);
    return stream;
  }

  /**
   * Rejects a derived stream that is its own input and would therefore never end.
   *
   * @param setting the setting that names the stream, for the message
   */
  public void checkOutput(String setting, String stream) {
    String filled = Destination.derived(stream).topic(get(Keys.NAMES_PREFIX));
    if (find(Keys.BROKER_URL_KEY).map(BrokerUrl::path).filter(filled::equals).isPresent()) {
      throw new ConfigException(setting + " would fill " + filled + ", which is the input in broker.url");
    }
  }

  /** Returns the password from its file or the broker's URL; it must never be logged. */
  public Optional<String> password() {
    Optional<Path> file = find(Keys.BROKER_PASSWORD_FILE);
    if (file.isEmpty()) {
      return Optional.ofNullable(get(Keys.BROKER_URL_KEY).password());
    }
    String setting = Keys.BROKER_PASSWORD_FILE.name() + "=" + file.get();
    try (BufferedReader reader = Files.newBufferedReader(file.get())) {
      String line = reader.readLine();
      if (line == null || line.isEmpty()) {
        throw new ConfigException(setting + ": the file's first line is empty");
      }
      return Optional.of(line);
    } catch (IOException e) {
      throw new ConfigException(setting + ": cannot be read");
    }
  }

  /** Returns the user from its setting or the broker's URL. */
  public Optional<String> user() {
    return find(Keys.BROKER_USER).or(() -> Optional.ofNullable(get(Keys.BROKER_URL_KEY).user()));
  }

  /** Returns the environment in which an emitter or a tool uses the same broker; may hold a password, in the URL. */
  public Map<String, String> emitterEnvironment() {
    Map<ConfigKey<?>, String> variables =
        Map.of(
            Keys.BROKER_URL_KEY, "LIFELINE_URL",
            Keys.BROKER_USER, "LIFELINE_USER",
            Keys.BROKER_PASSWORD_FILE, "LIFELINE_PASSWORD_FILE",
            Keys.BROKER_TLS_CA, "LIFELINE_TLS_CA",
            Keys.BROKER_TLS_CERT, "LIFELINE_TLS_CERT",
            Keys.BROKER_TLS_KEY, "LIFELINE_TLS_KEY",
            Keys.BROKER_NATS_CREDS, "LIFELINE_NATS_CREDS");
    Map<String, String> environment = new TreeMap<>();
    variables.forEach(
        (key, variable) -> {
          if (settings.containsKey(key.name())) {
            environment.put(variable, settings.get(key.name()).text());
          }
        });
    return environment;
  }

  /** Returns the URL's {@code tls} parameter if it is set, else whether any TLS file is configured; as for emitters. */
  public boolean usesTls() {
    Map<String, String> parameters = get(Keys.BROKER_URL_KEY).parameters();
    String said = parameters.get("tls");
    if (said != null) {
      return said.equals("true");
    }
    var files = Stream.of(Keys.BROKER_TLS_CA, Keys.BROKER_TLS_CERT, Keys.BROKER_TLS_KEY);
    return files.anyMatch(key -> find(key).isPresent())
        || Stream.of("tls_ca", "tls_cert", "tls_key").anyMatch(parameters::containsKey);
  }

  /** Returns every setting with its value, with secrets masked. */
  public Map<String, String> masked() {
    Map<String, String> shown = new TreeMap<>();
    settings.forEach((name, setting) -> shown.put(name, Secrets.mask(name, setting.text())));
    return shown;
  }

  /** Returns the source of a setting's value. */
  public Origin origin(String name) {
    return settings.containsKey(name) ? settings.get(name).origin() : Origin.DEFAULT;
  }

  /** Returns the settings whose names start with the prefix, which is removed. */
  private Map<String, String> under(String prefix) {
    Map<String, String> found = new TreeMap<>();
    settings.forEach(
        (name, setting) -> {
          if (name.startsWith(prefix)) {
            found.put(name.substring(prefix.length()), setting.text());
          }
        });
    return found;
  }

  /** An empty value resets the setting to its default and so undoes what another source has set. */
  private static void set(Map<String, Setting> settings, String name, String value, Origin origin) {
    if (!value.isBlank()) {
      settings.put(name, new Setting(value.strip(), origin));
      return;
    }
    settings.remove(name);
    Keys.all().stream()
        .filter(key -> key.name().equals(name) && key.defaultText() != null)
        .forEach(key -> settings.put(name, new Setting(key.defaultText(), Origin.DEFAULT)));
  }

  private static Map<String, String> readFile(Path file) {
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(file)) {
      properties.load(reader);
    } catch (IOException | IllegalArgumentException e) {
      throw new ConfigException("the configuration file " + file + " cannot be read: " + e.getClass().getSimpleName());
    }
    Map<String, String> map = new TreeMap<>();
    properties.forEach((name, value) -> map.put((String) name, (String) value));
    return map;
  }

  /** {@code LIFELINE_JOBS_KAFKA_LINGER_MS} is {@code kafka.linger.ms}: native names contain no underscore. */
  private static void kafkaEnvironment(Map<String, String> environment, Map<String, Setting> settings) {
    environment(environment, Keys.KAFKA_PREFIX)
        .forEach((name, value) -> set(settings, Keys.KAFKA_PREFIX + name.replace('_', '.'), value, Origin.ENVIRONMENT));
  }

  /** {@code LIFELINE_JOBS_FILTER_LARGE_READS} is {@code filter.large_reads}. */
  private static void filterEnvironment(Map<String, String> environment, Map<String, Setting> settings) {
    environment(environment, Keys.FILTER_PREFIX)
        .forEach(
            (name, value) ->
                set(settings, checkName(Keys.FILTER_PREFIX + name, "the environment"), value, Origin.ENVIRONMENT));
  }

  /** Returns the environment variables for a prefix, by the rest of their names in lower case. */
  private static Map<String, String> environment(Map<String, String> environment, String prefix) {
    String variables = ConfigKey.environmentVariable(prefix);
    Map<String, String> found = new TreeMap<>();
    environment.forEach(
        (variable, value) -> {
          if (variable.startsWith(variables)) {
            found.put(variable.substring(variables.length()).toLowerCase(Locale.ROOT), value);
          }
        });
    return found;
  }

  private static String checkName(String name, String where) {
    if (name.startsWith(Keys.FILTER_PREFIX)) {
      checkStream(name, where);
      return name;
    }
    boolean known = name.startsWith(Keys.KAFKA_PREFIX) || Keys.all().stream().anyMatch(key -> key.name().equals(name));
    if (!known) {
      throw new ConfigException(
          where + ": there is no setting '" + name + "'; see 'lifeline-jobs config --keys'");
    }
    return name;
  }

  private static void checkStream(String name, String where) {
    if (!name.substring(Keys.FILTER_PREFIX.length()).matches(Keys.DERIVED_NAME)) {
      throw new ConfigException(
          where + ": " + name + " names a stream by something other than " + Keys.PAIR_TO.type().allowed());
    }
  }
}
