package io.lifeline.jobs.core;

import java.io.FilterWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
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

  /** Returns a writer that makes text {@link #printable} except for ends of lines, and flushes to the given one. */
  public static PrintWriter guarded(Writer out) {
    return new PrintWriter(new FilterWriter(out) {
      @Override
      public void write(int c) throws IOException {
        out.write(c != '\n' && isHarmful(c) ? REPLACEMENT : c);
      }

      @Override
      public void write(char[] text, int offset, int length) throws IOException {
        for (int i = offset; i < offset + length; i++) {
          write(text[i]);
        }
      }

      @Override
      public void write(String text, int offset, int length) throws IOException {
        write(text.toCharArray(), offset, length);
      }
    });
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
