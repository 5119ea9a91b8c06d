package io.lifeline.jobs.core.filter;

import io.lifeline.codec.ColumnarBatch.Columns;
import java.util.function.Function;

/** Tests whether a number or bool is within an interval of its scale. Reads only the column, without branches. */
abstract class RangeTerm extends Term {

  private final long lowest;
  private final long span;

  private RangeTerm(Interval interval) {
    // One comparison for both ends: values below the interval wrap around to above it.
    this.lowest = interval.lowest();
    this.span = interval.highest() - interval.lowest() ^ Long.MIN_VALUE;
  }

  /** @param column the values as decoded by the codec: {@code long[]}, or {@code double[]} for floats */
  static Term of(Function<Columns, ?> column, Scale scale, Interval interval) {
    if (interval.isEmpty()) {
      return new Always(Judgement.NO);
    }
    return switch (scale) {
      case INT -> new OfLongs(column, 0, interval);
      case UINT -> new OfLongs(column, Long.MIN_VALUE, interval);
      case REAL -> new OfDoubles(column, interval);
    };
  }

  @Override
  final MatchBits judge(EventGroup group, long[] wanted) {
    int words = group.words();
    verdict.reset(words);
    judge(group.columns(), lowest, span, verdict.yes);
    for (int i = 0; i < words; i++) {
      verdict.no[i] = ~verdict.yes[i];
    }
    return verdict;
  }

  abstract void judge(Columns columns, long from, long biasedSpan, long[] yes);

  private static final class OfLongs extends RangeTerm {
    private final Function<Columns, ?> column;
    private final long bias;

    OfLongs(Function<Columns, ?> column, long bias, Interval interval) {
      super(interval);
      this.column = column;
      this.bias = bias;
    }

    @Override
    void judge(Columns columns, long from, long biasedSpan, long[] yes) {
      long[] values = (long[]) column.apply(columns);
      long shift = (from ^ bias) + Long.MIN_VALUE;
      for (int start = 0, word = 0; start < columns.size(); start += 64, word++) {
        int count = Math.min(64, columns.size() - start);
        long bits = 0;
        for (int i = 0; i < count; i++) {
          bits |= (values[start + i] - shift <= biasedSpan ? 1L : 0L) << i;
        }
        yes[word] = bits;
      }
    }
  }

  private static final class OfDoubles extends RangeTerm {
    private final Function<Columns, ?> column;

    OfDoubles(Function<Columns, ?> column, Interval interval) {
      super(interval);
      this.column = column;
    }

    @Override
    void judge(Columns columns, long from, long biasedSpan, long[] yes) {
      double[] values = (double[]) column.apply(columns);
      long shift = from + Long.MIN_VALUE;
      for (int start = 0, word = 0; start < columns.size(); start += 64, word++) {
        int count = Math.min(64, columns.size() - start);
        long bits = 0;
        for (int i = 0; i < count; i++) {
          bits |= (Scale.key(values[start + i]) - shift <= biasedSpan ? 1L : 0L) << i;
        }
        yes[word] = bits;
      }
    }
  }
}
