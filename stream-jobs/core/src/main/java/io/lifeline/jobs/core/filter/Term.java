package io.lifeline.jobs.core.filter;

/**
 * A part of a condition, compiled for one event type and used by one thread: judges events column by column. The
 * three-valued logic is CEL's: an operand that cannot be evaluated is ignored if the other one decides.
 */
abstract class Term {

  /** The last result. */
  final MatchBits verdict = new MatchBits();

  /**
   * Judges all events of the group.
   *
   * @param wanted a bit per event; the results of other events are not used
   */
  abstract MatchBits judge(EventGroup group, long[] wanted);

  /** Returns the judgement of all events of the type, or null if it depends on the event or its batch. */
  Judgement always() {
    return null;
  }
}
