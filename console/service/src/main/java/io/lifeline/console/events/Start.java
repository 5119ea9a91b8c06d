package io.lifeline.console.events;

import java.time.Duration;

/**
 * Where a subscription begins: behind an event; else as far back as the history; else with the next event.
 *
 * @param after null for none
 * @param history null for none
 */
public record Start(EventId after, Duration history) {
  public static final Start NOW = new Start(null, null);
}
