package io.lifeline.jobs.core;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A length of time as people write it: {@code 500ms}, {@code 30s}, {@code 10m}, {@code 2h}, {@code 1d}. */
public final class DurationText {
  private static final Pattern PARTS = Pattern.compile("([0-9]{1,15})(ms|s|m|h|d)");
  private static final Map<String, ChronoUnit> UNITS = Map.of("ms", ChronoUnit.MILLIS, "s", ChronoUnit.SECONDS,
      "m", ChronoUnit.MINUTES, "h", ChronoUnit.HOURS, "d", ChronoUnit.DAYS);

  private DurationText() {}

  /** @throws IllegalArgumentException if it is none, or too long for a {@link Duration} */
  public static Duration parse(String text) {
    Matcher parts = PARTS.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException(text);
    }
    try {
      return Duration.of(Long.parseLong(parts.group(1)), UNITS.get(parts.group(2)));
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException(text, e);
    }
  }
}
