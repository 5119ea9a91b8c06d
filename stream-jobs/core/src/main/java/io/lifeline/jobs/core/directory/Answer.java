package io.lifeline.jobs.core.directory;

/**
 * What an emitter has said of an activation of the control topic.
 *
 * @param state what it said last
 * @param atNs when, by the emitter's clock
 * @param line what it read; null if it has only said that the activation ended
 * @param reason why it ended or was refused; null while it is in force
 */
public record Answer(State state, long atNs, String line, String reason) {

  /** Whether an activation is in force. */
  public enum State {
    IN_FORCE, ENDED, REFUSED
  }
}
