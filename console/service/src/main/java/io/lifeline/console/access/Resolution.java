package io.lifeline.console.access;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The resolution of an activation as a limit: how much it may let through.
 *
 * @param rank greater for more events
 */
public record Resolution(String text, long rank) implements Comparable<Resolution> {
  public static final Resolution FULL = new Resolution("full", Long.MAX_VALUE);
  private static final long LARGEST = 1_000_000_000;
  private static final Pattern SAMPLE = Pattern.compile("sample:([0-9]{1,10})");

  /** @throws IllegalArgumentException with a message for the user */
  public static Resolution of(String text) {
    switch (String.valueOf(text)) {
      case "off":
        return new Resolution(text, 0);
      case "summary":
        return new Resolution(text, 1);
      case "full":
        return FULL;
      default:
        Matcher sample = SAMPLE.matcher(String.valueOf(text));
        if (sample.matches()) {
          long every = Long.parseLong(sample.group(1));
          if (every >= 1 && every <= LARGEST) {
            return new Resolution(text, 2 + LARGEST - every);
          }
        }
        throw new IllegalArgumentException("'" + Names.printable(text)
            + "' is not a resolution: off, summary, sample:N (N from 1 to 1000000000) or full");
    }
  }

  @Override
  public int compareTo(Resolution other) {
    return Long.compare(rank, other.rank);
  }

  @Override
  public String toString() {
    return text;
  }
}
