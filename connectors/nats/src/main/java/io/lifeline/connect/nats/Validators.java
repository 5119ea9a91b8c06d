package io.lifeline.connect.nats;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.ConfigDef.Recommender;
import org.apache.kafka.common.config.ConfigDef.Validator;
import org.apache.kafka.common.config.ConfigException;

/** Validators and recommenders for settings. */
final class Validators {

  /** A file that this process can read. */
  static final Validator FILE =
      named(
          "a file that the worker can read",
          (name, value) -> {
            if (value != null && !Files.isReadable(Path.of((String) value))) {
              throw new ConfigException(name, value, "the file does not exist or the worker cannot read it");
            }
          });

  private Validators() {}

  /** Text that matches the pattern. */
  static Validator matching(String allowed, String pattern) {
    Pattern compiled = Pattern.compile(pattern);
    return named(
        allowed,
        (name, value) -> {
          if (value != null && !compiled.matcher((String) value).matches()) {
            throw new ConfigException(name, value, "expected " + allowed);
          }
        });
  }

  /** A list whose members match the pattern. The message omits the value, which may hold a password. */
  static Validator each(String allowed, String pattern) {
    Pattern compiled = Pattern.compile(pattern);
    return named(
        "a list of " + allowed,
        (name, value) -> {
          for (Object member : (List<?>) value) {
            if (!compiled.matcher((String) member).matches()) {
              throw new ConfigException(name + ": expected " + allowed + " in each member of the list");
            }
          }
        });
  }

  /** A validator with its description for the documentation. */
  static Validator named(String allowed, Validator validator) {
    return new Validator() {
      @Override
      public void ensureValid(String name, Object value) {
        validator.ensureValid(name, value);
      }

      @Override
      public String toString() {
        return allowed;
      }
    };
  }

  /** Recommends the values; others may be valid too. */
  static Recommender offering(String... values) {
    return new Recommender() {
      @Override
      public List<Object> validValues(String name, Map<String, Object> config) {
        return new ArrayList<>(List.of(values)); // Kafka removes members
      }

      @Override
      public boolean visible(String name, Map<String, Object> config) {
        return true;
      }
    };
  }

  /** Shows a setting only if another is set. */
  static Recommender visibleWith(String other) {
    return new Recommender() {
      @Override
      public List<Object> validValues(String name, Map<String, Object> config) {
        return new ArrayList<>();
      }

      @Override
      public boolean visible(String name, Map<String, Object> config) {
        return config.get(other) != null;
      }
    };
  }
}
