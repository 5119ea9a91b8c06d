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

/** What single values of settings may be, and which of them a form offers. */
final class Validators {

  /** A file that this process can read. */
  static final Validator FILE =
      named(
          "a file that the worker can read",
          (name, value) -> {
            if (value != null && !Files.isReadable(Path.of((String) value))) {
              throw new ConfigException(name, value, "there is no such file, or the worker cannot read it");
            }
          });

  private Validators() {}

  /** Text as the pattern has it. */
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

  /** A list whose members are as the pattern has it. What is wrong is not shown: it may hold a password. */
  static Validator each(String allowed, String pattern) {
    Pattern compiled = Pattern.compile(pattern);
    return named(
        "a list of " + allowed,
        (name, value) -> {
          for (Object member : (List<?>) value) {
            if (!compiled.matcher((String) member).matches()) {
              throw new ConfigException(name + ": expected " + allowed + " in each place of the list");
            }
          }
        });
  }

  /** A validator with what the documentation says of it. */
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

  /** Offers the values; others may be legal too. */
  static Recommender offering(String... values) {
    return new Recommender() {
      @Override
      public List<Object> validValues(String name, Map<String, Object> config) {
        return new ArrayList<>(List.of(values)); // Kafka takes out what it does not want
      }

      @Override
      public boolean visible(String name, Map<String, Object> config) {
        return true;
      }
    };
  }

  /** Shows a setting only once another is set. */
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
