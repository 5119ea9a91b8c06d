package io.lifeline.jobs.core;

/** Selects fields of event types; {@code *} in either part matches any text. */
public record FieldSelector(Glob type, Glob field) {

  /** Parses {@code TYPE:FIELD}. */
  public static FieldSelector parse(String text) {
    int colon = text.lastIndexOf(':');
    return new FieldSelector(Glob.of(text.substring(0, colon)), Glob.of(text.substring(colon + 1)));
  }

  public boolean matches(String typeName, String fieldName) {
    return type.matches(typeName) && field.matches(fieldName);
  }
}
