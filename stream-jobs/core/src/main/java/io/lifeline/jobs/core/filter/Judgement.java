package io.lifeline.jobs.core.filter;

/** Result of a condition for one event. */
enum Judgement {
  YES,
  NO,
  /** It cannot be evaluated: a field is missing, or two values cannot be compared. */
  NEITHER;

  static Judgement of(Object celValue) {
    return Boolean.TRUE.equals(celValue) ? YES : Boolean.FALSE.equals(celValue) ? NO : NEITHER;
  }

  static Judgement of(boolean holds) {
    return holds ? YES : NO;
  }
}
