package io.lifeline.jobs.core.config;

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
    Map<String, String> natives = new TreeMap<>();
    settings.forEach(
        (name, setting) -> {
          if (name.startsWith(Keys.KAFKA_PREFIX)) {
            natives.put(name.substring(Keys.KAFKA_PREFIX.length()), setting.text());
          }
        });
    return natives;
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
    String prefix = ConfigKey.environmentVariable(Keys.KAFKA_PREFIX);
    environment.forEach(
        (variable, value) -> {
          if (variable.startsWith(prefix)) {
            String name = variable.substring(prefix.length()).toLowerCase(Locale.ROOT).replace('_', '.');
            set(settings, Keys.KAFKA_PREFIX + name, value, Origin.ENVIRONMENT);
          }
        });
  }

  private static String checkName(String name, String where) {
    boolean known = name.startsWith(Keys.KAFKA_PREFIX) || Keys.all().stream().anyMatch(key -> key.name().equals(name));
    if (!known) {
      throw new ConfigException(
          where + ": there is no setting '" + name + "'; 'lifeline-jobs config --keys' lists what there is");
    }
    return name;
  }
}
