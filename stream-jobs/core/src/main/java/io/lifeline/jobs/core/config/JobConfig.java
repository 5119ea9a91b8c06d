package io.lifeline.jobs.core.config;

import io.lifeline.jobs.core.Destination;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The effective configuration. A setting comes from the command line, else from the environment, else from the
 * properties file, else it has its default. Everything is checked when it is loaded, so {@link #get} cannot fail on a
 * bad value.
 */
public final class JobConfig {

  /** Where a value came from. */
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
   * @param overrides what the command line sets
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

  /** The value of a setting that has a default or must be set. */
  public <T> T get(ConfigKey<T> key) {
    return find(key)
        .orElseThrow(
            () ->
                new ConfigException(
                    key.name() + " is not set: " + key.description() + " Expected " + key.type().allowed()));
  }

  /** The value of a setting that may be left out. */
  @SuppressWarnings("unchecked") // values were parsed by the key's own type
  public <T> Optional<T> find(ConfigKey<T> key) {
    return Optional.ofNullable((T) values.get(key));
  }

  /** The settings under {@code kafka.}, without that prefix: native names of the Kafka clients. */
  public Map<String, String> kafka() {
    return under(Keys.KAFKA_PREFIX);
  }

  /** The conditions under {@code filter.}, by the name of the stream that they fill. */
  public Map<String, String> filters() {
    return under(Keys.FILTER_PREFIX);
  }

  /** The name of the derived stream that is read, if it is not the emitters' own batches. */
  public Optional<String> derivedInput() {
    String path = get(Keys.BROKER_URL_KEY).path();
    int at = path.lastIndexOf(Destination.DERIVED);
    return at < 0 ? Optional.empty() : Optional.of(path.substring(at + Destination.DERIVED.length()).replace('.', '_'));
  }

  /**
   * Refuses a derived stream that would be made of itself, and so never come to an end.
   *
   * @param setting what names the stream, for the message
   */
  public void checkOutput(String setting, String stream) {
    String filled = Destination.derived(stream).topic(get(Keys.NAMES_PREFIX));
    if (find(Keys.BROKER_URL_KEY).map(BrokerUrl::path).filter(filled::equals).isPresent()) {
      throw new ConfigException(setting + " would fill " + filled + ", which broker.url says is read");
    }
  }

  /** The password from its file or the broker's URL; never to be logged. */
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

  /** The user from its setting or the broker's URL. */
  public Optional<String> user() {
    return find(Keys.BROKER_USER).or(() -> Optional.ofNullable(get(Keys.BROKER_URL_KEY).user()));
  }

  /** As for emitters: what the URL says of it, else whether anything is there that TLS alone needs. */
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

  /** Every setting with its value, as people may see it: secrets are masked. */
  public Map<String, String> masked() {
    Map<String, String> shown = new TreeMap<>();
    settings.forEach((name, setting) -> shown.put(name, Secrets.mask(name, setting.text())));
    return shown;
  }

  /** Where a setting's value came from. */
  public Origin origin(String name) {
    return settings.containsKey(name) ? settings.get(name).origin() : Origin.DEFAULT;
  }

  /** The settings whose names start with the prefix, without it. */
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

  /** An empty value takes the setting back to its default, so that what another layer set can be undone. */
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

  /** {@code LIFELINE_JOBS_KAFKA_LINGER_MS} is {@code kafka.linger.ms}: native names hold no underscore. */
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

  /** The variables that set what is under a prefix: by the rest of their names, in lower case. */
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
          where + ": there is no setting '" + name + "'; 'lifeline-jobs config --keys' lists what there is");
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
