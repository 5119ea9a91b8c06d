package io.lifeline.jobs.core;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Makes text safe for a terminal: text from an emitter must neither control the terminal nor reorder other text.
 */
public final class Terminal {

  private static final int REPLACEMENT = 0xFFFD;

  private Terminal() {}

  /** Returns whether a descriptor of this process is a terminal: 1 is standard output, 2 standard error. */
  public static boolean isTerminal(int descriptor) {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }

  /** Replaces control characters, Unicode line separators and bidirectional formatting characters with U+FFFD. */
  public static String printable(String text) {
    return text.codePoints().anyMatch(Terminal::isHarmful)
        ? text.codePoints().map(c -> isHarmful(c) ? REPLACEMENT : c)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString()
        : text;
  }

  /** As {@link #printable}, for a message of one or more lines. */
  public static String printableLines(String text) {
    return String.join("\n", text.lines().map(Terminal::printable).toList());
  }

  /** Returns whether the character controls a terminal, ends a line or changes the writing direction. */
  public static boolean isHarmful(int c) {
    return Character.isISOControl(c)
        || c == 0x061C || c == 0x200E || c == 0x200F // direction marks
        || c >= 0x2028 && c <= 0x202E // line and paragraph separators, embeddings and overrides
        || c >= 0x2066 && c <= 0x2069; // isolates
  }
}
