package io.lifeline.jobs.core.config;

import java.util.Locale;
import java.util.function.Function;

/**
 * One setting: how it is called, what it does, what it may be.
 *
 * @param name as in the properties file and in {@code --set}
 * @param type turns the text into the value, or says what is allowed
 * @param defaultText the value when nothing is set; null if the setting has none
 * @param description one sentence for people
 */
public record ConfigKey<T>(String name, ValueType<T> type, String defaultText, String description) {

  /** How a setting's text becomes a value. */
  public interface ValueType<T> {
    /** What may stand there, for error messages and documentation. */
    String allowed();

    /** The value; throws {@link IllegalArgumentException} when the text is not {@link #allowed}. */
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

  /** The environment variable that sets it: {@code broker.url} is {@code LIFELINE_JOBS_BROKER_URL}. */
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
