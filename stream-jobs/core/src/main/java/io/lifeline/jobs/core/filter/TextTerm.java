package io.lifeline.jobs.core.filter;

import io.lifeline.codec.ColumnarBatch.Columns;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Whether a string equals, starts with, ends with or contains a constant: compared as bytes, without decoding. UTF-8
 * allows that as long as the constant holds no U+FFFD, for which bytes that are no UTF-8 would stand.
 */
final class TextTerm extends Term {

  /** How strings are compared, by what CEL calls it. */
  enum Match {
    EQUALS("_==_") {
      @Override
      boolean holds(byte[] raw, int from, int to, byte[] text) {
        return Arrays.equals(raw, from, to, text, 0, text.length);
      }
    },
    STARTS("startsWith") {
      @Override
      boolean holds(byte[] raw, int from, int to, byte[] text) {
        return to - from >= text.length && Arrays.equals(raw, from, from + text.length, text, 0, text.length);
      }
    },
    ENDS("endsWith") {
      @Override
      boolean holds(byte[] raw, int from, int to, byte[] text) {
        return to - from >= text.length && Arrays.equals(raw, to - text.length, to, text, 0, text.length);
      }
    },
    CONTAINS("contains") {
      @Override
      boolean holds(byte[] raw, int from, int to, byte[] text) {
        for (int at = from; at <= to - text.length; at++) {
          if (Arrays.equals(raw, at, at + text.length, text, 0, text.length)) {
            return true;
          }
        }
        return false;
      }
    };

    private final String function;

    Match(String function) {
      this.function = function;
    }

    /** The match that CEL's function is, or null. */
    static Match of(String function) {
      for (Match match : values()) {
        if (match.function.equals(function)) {
          return match;
        }
      }
      return null;
    }

    abstract boolean holds(byte[] raw, int from, int to, byte[] text);
  }

  private static final char REPLACEMENT = '\uFFFD';

  private final int field;
  private final Match match;
  private final byte[] text;

  TextTerm(int field, Match match, String text) {
    this.field = field;
    this.match = match;
    this.text = text.getBytes(StandardCharsets.UTF_8);
  }

  /** Whether comparing bytes gives what comparing text would. */
  static boolean isSafe(String text) {
    return text.indexOf(REPLACEMENT) < 0;
  }

  @Override
  Verdict judge(EventGroup group, long[] wanted) {
    Columns columns = group.columns();
    int[] offsets = columns.offsets(field);
    int[] lengths = columns.lengths(field);
    byte[] raw = columns.raw();
    verdict.reset(group.words());
    for (int start = 0, word = 0; start < columns.size(); start += 64, word++) {
      int count = Math.min(64, columns.size() - start);
      long bits = 0;
      for (int i = 0; i < count; i++) {
        int from = offsets[start + i];
        bits |= (match.holds(raw, from, from + lengths[start + i], text) ? 1L : 0L) << i;
      }
      verdict.yes[word] = bits;
      verdict.no[word] = ~bits;
    }
    return verdict;
  }
}
