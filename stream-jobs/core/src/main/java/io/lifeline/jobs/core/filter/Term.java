package io.lifeline.jobs.core.filter;

/**
 * A part of a condition, made for one event type and one thread: judges events of that type, column by column. The
 * three-valued logic is CEL's: an operand that cannot be evaluated does not matter where the other one decides.
 */
abstract class Term {

  /** What was judged last. */
  final Verdict verdict = new Verdict();

  /**
   * Judges all events of the group.
   *
   * @param wanted a bit per event: of the others, nobody will ask
   */
  abstract Verdict judge(EventGroup group, long[] wanted);

  /** What this says of any event, or null if that depends on the event or its batch. */
  Judgement always() {
    return null;
  }
}
