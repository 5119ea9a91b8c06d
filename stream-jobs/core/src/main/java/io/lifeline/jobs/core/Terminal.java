package io.lifeline.jobs.core;

/**
 * Text for a terminal. What comes from an emitter must not drive it, nor turn the order of what stands there
 * around.
 */
public final class Terminal {

  private static final int REPLACEMENT = 0xFFFD;

  private Terminal() {}

  /** With U+FFFD for control characters, other line ends, and what changes the direction of writing. */
  public static String printable(String text) {
    return text.codePoints().anyMatch(Terminal::isHarmful)
        ? text.codePoints().map(c -> isHarmful(c) ? REPLACEMENT : c)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString()
        : text;
  }

  /** As {@link #printable}, of a message that may have several lines. */
  public static String printableLines(String text) {
    return String.join("\n", text.lines().map(Terminal::printable).toList());
  }

  private static boolean isHarmful(int c) {
    return Character.isISOControl(c)
        || c == 0x061C || c == 0x200E || c == 0x200F // marks of direction
        || c >= 0x2028 && c <= 0x202E // line and paragraph ends, embeddings and overrides
        || c >= 0x2066 && c <= 0x2069; // isolates
  }
}
