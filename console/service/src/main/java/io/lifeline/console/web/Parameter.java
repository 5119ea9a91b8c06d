package io.lifeline.console.web;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * A parameter in the query, the path or a header: how it is read, checked and documented.
 *
 * @param schema its JSON schema
 * @param read throws {@link IllegalArgumentException}, whose message follows the parameter's name
 * @param fallback its value if it is missing; null for none
 */
public record Parameter<T>(String name, String description, Place place, boolean required,
    Map<String, Object> schema, Function<String, T> read, T fallback) {
  static final int LONGEST_TEXT = 1000;

  /** Where a request has it. */
  enum Place { QUERY, PATH, HEADER }

  /** A time in nanoseconds since 1970. */
  static Parameter<Long> time(String name, String description) {
    Map<String, Object> schema = schema("string");
    schema.put("pattern", "^[0-9]{1,19}$");
    return new Parameter<>(name, description, Place.QUERY, true, schema, text -> {
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
    return new Parameter<>(name, description, Place.QUERY, false, schema, text -> {
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
    return new Parameter<>(name, description, Place.QUERY, false, schema, text -> {
      if (text.length() > LONGEST_TEXT) {
        throw new IllegalArgumentException("must be at most " + LONGEST_TEXT + " characters");
      }
      return text;
    }, null);
  }

  /** Whether something is wanted; false if it is missing. */
  static Parameter<Boolean> truth(String name, String description) {
    return new Parameter<>(name, description, Place.QUERY, false, schema("boolean"), text -> {
      if (!text.equals("true") && !text.equals("false")) {
        throw new IllegalArgumentException("must be true or false");
      }
      return text.equals("true");
    }, false);
  }

  /** A text of that form. */
  static <T> Parameter<T> matching(String name, String description, String pattern, Function<String, T> read) {
    Map<String, Object> schema = schema("string");
    schema.put("pattern", pattern);
    return new Parameter<>(name, description, Place.QUERY, false, schema, read, null);
  }

  Parameter<T> mandatory() {
    return new Parameter<>(name, description, place, true, schema, read, fallback);
  }

  Parameter<T> optional() {
    return new Parameter<>(name, description, place, false, schema, read, fallback);
  }

  Parameter<T> ofHeader() {
    return new Parameter<>(name, description, Place.HEADER, required, schema, read, fallback);
  }

  Parameter<T> ofPath() {
    return new Parameter<>(name, description, Place.PATH, true, schema, read, fallback);
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
