package io.lifeline.jobs.core;

/**
 * A name pattern in which {@code *} matches any text, including none. Matching never goes back, so
 * that a stranger's pattern cannot take long.
 */
public final class Glob {

  /** What stands before, between and after the stars. */
  private final String[] parts;

  private Glob(String[] parts) {
    this.parts = parts;
  }

  public static Glob of(String text) {
    return new Glob(text.split("\\*", -1));
  }

  public boolean matches(String name) {
    String first = parts[0];
    String last = parts[parts.length - 1];
    if (parts.length == 1) {
      return name.equals(first);
    }
    if (!name.startsWith(first)) {
      return false;
    }
    int at = first.length();
    for (int i = 1; i < parts.length - 1; i++) {
      int found = name.indexOf(parts[i], at);
      if (found < 0) {
        return false;
      }
      at = found + parts[i].length();
    }
    return name.length() - last.length() >= at && name.endsWith(last);
  }
}
