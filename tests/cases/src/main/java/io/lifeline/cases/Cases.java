package io.lifeline.cases;

import java.util.Locale;

/**
 * Checks a property on many inputs, the same ones in every run:
 *
 * <pre>{@code
 * Cases.each(1000, any -> {
 *   long number = any.number();
 *   assertThat(read(written(number))).isEqualTo(number);
 * });
 * }</pre>
 *
 * <p>Case N takes its values from a generator that is seeded with N. The first cases are small, so that a failure is
 * usually easy to read. The message of a failure names the case and its values; {@code -Dlifeline.case=N} runs that
 * case alone. {@code -Dlifeline.cases.first=N} starts at another case, {@code -Dlifeline.cases.seconds=S} goes on for
 * that long instead of the given number of cases.
 */
public final class Cases {

  /** What holds for all inputs. */
  @FunctionalInterface
  public interface Property {
    void check(Inputs any) throws Exception;
  }

  private Cases() {}

  public static void each(int tries, Property property) {
    Long only = Long.getLong("lifeline.case");
    if (only != null) {
      check(only, property);
      return;
    }
    long first = Long.getLong("lifeline.cases.first", 0);
    Long seconds = Long.getLong("lifeline.cases.seconds");
    long start = System.nanoTime();
    for (long number = first;
        seconds == null ? number < first + tries : System.nanoTime() - start < seconds * 1_000_000_000;
        number++) {
      check(number, property);
    }
  }

  private static void check(long number, Property property) {
    Inputs inputs = new Inputs(number);
    try {
      property.check(inputs);
    } catch (Throwable e) {
      String message = "%s\nin case %d (-Dlifeline.case=%d runs it alone), whose values are %s";
      throw new AssertionError(String.format(Locale.ROOT, message, e, number, number, inputs), e);
    }
  }
}
