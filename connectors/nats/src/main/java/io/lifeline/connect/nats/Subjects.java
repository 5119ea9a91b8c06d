package io.lifeline.connect.nats;

import java.util.regex.Pattern;

/**
 * Subjects of NATS: words with dots between them; in a filter {@code *} stands for one word, a last {@code >} for any.
 */
final class Subjects {

  private static final Pattern FILTER = Pattern.compile("([^\\s.*>,]+|\\*)(\\.([^\\s.*>,]+|\\*))*(\\.>)?|>");
  private static final Pattern SUBJECT = Pattern.compile("[^\\s.*>]+(\\.[^\\s.*>]+)*");

  private Subjects() {}

  static boolean isFilter(String text) {
    return FILTER.matcher(text).matches();
  }

  /** Whether the subject is valid for publishing. */
  static boolean isSubject(String text) {
    return SUBJECT.matcher(text).matches();
  }

  /** Whether some subject matches both filters. */
  static boolean overlap(String one, String other) {
    String[] a = one.split("\\.");
    String[] b = other.split("\\.");
    for (int i = 0; i < a.length && i < b.length; i++) {
      if (a[i].equals(">") || b[i].equals(">")) {
        return true;
      }
      if (!a[i].equals("*") && !b[i].equals("*") && !a[i].equals(b[i])) {
        return false;
      }
    }
    return a.length == b.length;
  }
}
