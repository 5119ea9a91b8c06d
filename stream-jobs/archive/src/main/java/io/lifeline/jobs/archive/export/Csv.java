package io.lifeline.jobs.archive.export;

/** Quotes values as RFC 4180 does; an empty text too, as nothing at all stands for a value that is missing. */
public final class Csv {
  private Csv() {}

  public static String quoted(String text) {
    boolean plain = !text.isEmpty() && text.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
    return plain ? text : '"' + text.replace("\"", "\"\"") + '"';
  }
}
