package io.lifeline.console.events;

import io.lifeline.jobs.core.DurationText;
import java.time.Duration;

/** A length of time as people write it: {@code 30s}, {@code 10m}, {@code 1h}, {@code 2d}. */
public final class TimeText {
  public static final String PATTERN = "^([0-9]{1,6})([smhd])$";

  private TimeText() {}

  /** @throws IllegalArgumentException if it is none; the message follows a name */
  public static Duration parse(String text) {
    if (!text.matches(PATTERN)) {
      throw new IllegalArgumentException("is not a time: a number and s, m, h or d is expected, like 10m");
    }
    return DurationText.parse(text);
  }
}
