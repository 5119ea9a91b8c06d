package io.lifeline.jobs.core.filter;

import dev.cel.common.ast.CelConstant;
import java.util.OptionalLong;
import java.util.function.LongPredicate;

/**
 * The keys on a {@link Scale} for which a comparison with a number holds, both ends included; empty if {@code lowest}
 * is above {@code highest}.
 */
record Interval(long lowest, long highest) {

  private static final Interval EMPTY = new Interval(0, -1);

  /** Returns the keys whose values satisfy CEL's comparison with the number; the caller handles {@code !=}. */
  static Interval of(Scale scale, String operator, CelConstant number) {
    long lowest = scale.lowest();
    long highest = scale.highest(number);
    OptionalLong notBelow = first(lowest, highest, key -> scale.compare(key, number) >= 0);
    OptionalLong above = first(lowest, highest, key -> scale.compare(key, number) > 0);
    return switch (operator) {
      case "_<_" -> before(lowest, notBelow, highest);
      case "_<=_" -> before(lowest, above, highest);
      case "_>_" -> from(above, highest);
      case "_>=_" -> from(notBelow, highest);
      case "_==_" -> notBelow.isEmpty() ? EMPTY : before(notBelow.getAsLong(), above, highest);
      default -> throw new IllegalArgumentException(operator);
    };
  }

  boolean isEmpty() {
    return lowest > highest;
  }

  private static Interval from(OptionalLong start, long highest) {
    return start.isEmpty() ? EMPTY : new Interval(start.getAsLong(), highest);
  }

  private static Interval before(long lowest, OptionalLong end, long highest) {
    if (end.isEmpty()) {
      return new Interval(lowest, highest);
    }
    return end.getAsLong() == lowest ? EMPTY : new Interval(lowest, end.getAsLong() - 1);
  }

  /** Returns the first key for which the monotonic predicate holds, if there is one. */
  private static OptionalLong first(long lowest, long highest, LongPredicate holds) {
    if (!holds.test(highest)) {
      return OptionalLong.empty();
    }
    long low = lowest;
    long high = highest;
    while (low < high) {
      long middle = (low & high) + ((low ^ high) >> 1);
      if (holds.test(middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return OptionalLong.of(low);
  }
}
