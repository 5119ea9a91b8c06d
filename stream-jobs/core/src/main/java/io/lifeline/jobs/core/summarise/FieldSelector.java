package io.lifeline.jobs.core.summarise;

import io.lifeline.jobs.core.Glob;

/** Selects fields of event types; {@code *} in either part matches any text. */
record FieldSelector(Glob type, Glob field) {

  static FieldSelector parse(String text) {
    int colon = text.lastIndexOf(':');
    return new FieldSelector(Glob.of(text.substring(0, colon)), Glob.of(text.substring(colon + 1)));
  }

  boolean matches(String typeName, String fieldName) {
    return type.matches(typeName) && field.matches(fieldName);
  }
}
