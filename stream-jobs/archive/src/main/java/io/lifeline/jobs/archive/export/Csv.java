package io.lifeline.jobs.archive.export;

/** Quotes values as RFC 4180 does. */
public final class Csv {
  private Csv() {}

  public static String quoted(String text) {
    boolean plain = text.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
    return plain ? text : '"' + text.replace("\"", "\"\"") + '"';
  }
}
