package io.lifeline.console.events;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names an event among those that one run of the console has received: {@code RUN-NUMBER}.
 *
 * <p>A subscription that resumes behind an id gets every selected event that arrived after that one, once, in the same
 * order, if it has the same filters and these events are still in memory. Otherwise it first gets a gap: some events
 * have left memory, and it continues with the oldest one there; or the id is one of an earlier run, and it begins as a
 * new subscription does. An id is given to events alone: who connects again behind a {@code skipped} gets those events
 * too, as far as they are in memory.
 */
public record EventId(String run, long number) {
  public static final String PATTERN = "^([0-9a-f]{8})-([0-9]{1,18})$";
  private static final Pattern PARTS = Pattern.compile(PATTERN);

  /** @throws IllegalArgumentException if it is none */
  public static EventId parse(String text) {
    Matcher parts = PARTS.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException("must be the id of an event of this stream");
    }
    return new EventId(parts.group(1), Long.parseLong(parts.group(2)));
  }

  @Override
  public String toString() {
    return run + "-" + number;
  }
}
