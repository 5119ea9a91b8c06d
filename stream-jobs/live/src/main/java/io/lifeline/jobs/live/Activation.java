package io.lifeline.jobs.live;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * An activation of the control topic: schemas/ACTIVATION.md.
 *
 * @param state {@code running}, {@code over} or {@code illegal}
 * @param remainingMs null unless it is running, and says when it was issued
 * @param why it is illegal; else null, and the members that follow are not
 * @param sample one event of so many; null without that resolution
 */
public record Activation(String id, String line, String state, @JsonProperty("remaining_ms") Long remainingMs,
    String why, String pattern, String program, String host, String resolution, Integer sample) {}
