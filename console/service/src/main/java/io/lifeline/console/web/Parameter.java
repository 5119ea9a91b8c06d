package io.lifeline.console.web;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * A parameter in the query or the path: how it is read, checked and documented.
 *
 * @param schema its JSON schema
 * @param read throws {@link IllegalArgumentException}, whose message follows the parameter's name
 * @param fallback its value if it is missing; null for none
 */
public record Parameter<T>(String name, String description, boolean inPath, boolean required,
    Map<String, Object> schema, Function<String, T> read, T fallback) {
  private static final int LONGEST_TEXT = 1000;

  /** A time in nanoseconds since 1970. */
  static Parameter<Long> time(String name, String description) {
    Map<String, Object> schema = schema("string");
    schema.put("pattern", "^[0-9]{1,19}$");
    return new Parameter<>(name, description, false, true, schema, text -> {
      try {
        if (!text.isEmpty() && Character.isDigit(text.charAt(0))) {
          return Long.parseLong(text);
        }
      } catch (NumberFormatException e) {
        // the same message
      }
      throw new IllegalArgumentException("must be nanoseconds since 1970");
    }, null);
  }

  static Parameter<Integer> integer(String name, String description, int least, int most, Integer fallback) {
    Map<String, Object> schema = schema("integer");
    schema.put("minimum", least);
    schema.put("maximum", most);
    if (fallback != null) {
      schema.put("default", fallback);
    }
    return new Parameter<>(name, description, false, false, schema, text -> {
      try {
        int number = Integer.parseInt(text);
        if (number >= least && number <= most) {
          return number;
        }
      } catch (NumberFormatException e) {
        // the same message
      }
      throw new IllegalArgumentException("must be a whole number from " + least + " to " + most);
    }, fallback);
  }

  static Parameter<String> text(String name, String description) {
    Map<String, Object> schema = schema("string");
    schema.put("maxLength", LONGEST_TEXT);
    return new Parameter<>(name, description, false, false, schema, text -> {
      if (text.length() > LONGEST_TEXT) {
        throw new IllegalArgumentException("must be at most " + LONGEST_TEXT + " characters");
      }
      return text;
    }, null);
  }

  Parameter<T> mandatory() {
    return new Parameter<>(name, description, inPath, true, schema, read, fallback);
  }

  Parameter<T> optional() {
    return new Parameter<>(name, description, inPath, false, schema, read, fallback);
  }

  Parameter<T> ofPath() {
    return new Parameter<>(name, description, true, true, schema, read, fallback);
  }

  /** Returns the value that a request has. */
  T of(String text) {
    if (text == null) {
      if (required) {
        throw new Problem(400, name + " is missing: " + description);
      }
      return fallback;
    }
    try {
      return read.apply(text);
    } catch (IllegalArgumentException e) {
      throw new Problem(400, name + " " + e.getMessage());
    }
  }

  private static Map<String, Object> schema(String type) {
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put("type", type);
    return schema;
  }
}
