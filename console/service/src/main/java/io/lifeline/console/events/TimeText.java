package io.lifeline.console.events;

import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A length of time as people write it: {@code 30s}, {@code 10m}, {@code 1h}, {@code 2d}. */
public final class TimeText {
  public static final String PATTERN = "^([0-9]{1,6})([smhd])$";
  private static final Pattern PARTS = Pattern.compile(PATTERN);
  private static final Map<String, Long> SECONDS = Map.of("s", 1L, "m", 60L, "h", 3600L, "d", 86_400L);

  private TimeText() {}

  /** @throws IllegalArgumentException if it is none; the message follows a name */
  public static Duration parse(String text) {
    Matcher parts = PARTS.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException("is not a time: a number and s, m, h or d is expected, like 10m");
    }
    return Duration.ofSeconds(Long.parseLong(parts.group(1)) * SECONDS.get(parts.group(2)));
  }
}
