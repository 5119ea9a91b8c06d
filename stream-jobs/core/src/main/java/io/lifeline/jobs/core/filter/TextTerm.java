package io.lifeline.jobs.core.filter;

import io.lifeline.codec.ColumnarBatch.Columns;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Tests whether a string equals, starts with, ends with or contains a constant. Bytes are compared, eight at a time,
 * without decoding. UTF-8 permits this unless the constant contains U+FFFD, which also replaces invalid bytes.
 */
final class TextTerm extends Term {

  /** How strings are compared. */
  enum Match {
    EQUALS,
    STARTS,
    ENDS,
    CONTAINS;

    /** Returns the match of CEL's function, or null. */
    static Match of(String function) {
      return switch (function) {
        case "_==_" -> EQUALS;
        case "startsWith" -> STARTS;
        case "endsWith" -> ENDS;
        case "contains" -> CONTAINS;
        default -> null;
      };
    }
  }

  private static final char REPLACEMENT = '\uFFFD';
  private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final int field;
  private final Match match;
  private final byte[] text;

  /** The first eight bytes of the text, or all bytes of a shorter text. */
  private final long head;

  /** The last eight bytes of the text; 0 for a shorter text. */
  private final long tail;

  /** Selects the bytes of {@link #head} that are part of the text. */
  private final long mask;

  TextTerm(int field, Match match, String text) {
    this.field = field;
    this.match = match;
    this.text = text.getBytes(StandardCharsets.UTF_8);
    int length = this.text.length;
    this.head = ByteBuffer.wrap(Arrays.copyOf(this.text, 8)).order(ByteOrder.LITTLE_ENDIAN).getLong();
    this.tail = length < 8 ? 0 : (long) WORD.get(this.text, length - 8);
    this.mask = length < 8 ? (1L << 8 * length) - 1 : -1;
  }

  /** Returns whether comparing bytes is equivalent to comparing text. */
  static boolean isSafe(String text) {
    return text.indexOf(REPLACEMENT) < 0;
  }

  @Override
  MatchBits judge(EventGroup group, long[] wanted) {
    Columns columns = group.columns();
    int[] offsets = columns.offsets(field);
    int[] lengths = columns.lengths(field);
    byte[] raw = columns.raw();
    verdict.reset(group.words());
    for (int start = 0, word = 0; start < columns.size(); start += 64, word++) {
      int count = Math.min(64, columns.size() - start);
      long bits =
          match == Match.CONTAINS
              ? contains(raw, offsets, lengths, start, count)
              : matches(raw, offsets, lengths, start, count);
      verdict.yes[word] = bits;
      verdict.no[word] = ~bits;
    }
    return verdict;
  }

  private long matches(byte[] raw, int[] offsets, int[] lengths, int start, int count) {
    int shortest = text.length;
    int longest = match == Match.EQUALS ? text.length : Integer.MAX_VALUE;
    int fromEnd = match == Match.ENDS ? -1 : 0;
    long bits = 0;
    for (int i = 0; i < count; i++) {
      int length = lengths[start + i];
      int at = offsets[start + i] + (length - shortest & fromEnd);
      bits |= (length >= shortest && length <= longest && isAt(raw, at) ? 1L : 0L) << i;
    }
    return bits;
  }

  private long contains(byte[] raw, int[] offsets, int[] lengths, int start, int count) {
    long bits = 0;
    for (int i = 0; i < count; i++) {
      int last = offsets[start + i] + lengths[start + i] - text.length;
      for (int at = offsets[start + i]; at <= last; at++) {
        if (isAt(raw, at)) {
          bits |= 1L << i;
          break;
        }
      }
    }
    return bits;
  }

  /** Returns whether the text is at that offset; the string must have at least as many bytes left. */
  private boolean isAt(byte[] raw, int at) {
    int length = text.length;
    if (length < 8) {
      return at + 8 <= raw.length
          ? ((long) WORD.get(raw, at) & mask) == head
          : Arrays.equals(raw, at, at + length, text, 0, length);
    }
    return (long) WORD.get(raw, at) == head
        && (long) WORD.get(raw, at + length - 8) == tail
        && (length <= 16 || Arrays.equals(raw, at + 8, at + length - 8, text, 8, length - 8));
  }
}
