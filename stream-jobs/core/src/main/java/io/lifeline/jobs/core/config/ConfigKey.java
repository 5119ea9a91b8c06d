package io.lifeline.jobs.core.config;

import java.util.Locale;
import java.util.function.Function;

/**
 * One setting: name, purpose, allowed values.
 *
 * @param name as in the properties file and in {@code --set}
 * @param type parses the text and describes the allowed values
 * @param defaultText the default value; null if there is none
 * @param description one sentence for users
 */
public record ConfigKey<T>(String name, ValueType<T> type, String defaultText, String description) {

  /** Parses the text of a setting. */
  public interface ValueType<T> {
    /** Describes the allowed values, for error messages and documentation. */
    String allowed();

    /** Returns the value; throws {@link IllegalArgumentException} if the text is not {@link #allowed}. */
    T parse(String text);

    static <T> ValueType<T> of(String allowed, Function<String, T> parse) {
      return new ValueType<>() {
        @Override
        public String allowed() {
          return allowed;
        }

        @Override
        public T parse(String text) {
          return parse.apply(text);
        }
      };
    }
  }

  /** Returns the setting's environment variable: {@code LIFELINE_JOBS_BROKER_URL} for {@code broker.url}. */
  public String environmentVariable() {
    return environmentVariable(name);
  }

  static String environmentVariable(String name) {
    return "LIFELINE_JOBS_" + name.replace('.', '_').toUpperCase(Locale.ROOT);
  }

  T parse(String text) {
    try {
      return type.parse(text);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(name + "=" + Secrets.mask(name, text) + ": expected " + type.allowed());
    }
  }
}
