package io.lifeline.jobs.core.filter;

import java.util.Arrays;

/**
 * Results of a condition for a group of events: yes, no, or neither if it cannot be evaluated for that event. One bit
 * per event; bits beyond the last event are undefined.
 */
final class MatchBits {

  long[] yes = {};
  long[] no = {};

  /** Sets that many words to neither, enlarging the arrays if needed. */
  MatchBits reset(int words) {
    if (yes.length < words) {
      yes = new long[words];
      no = new long[words];
    } else {
      Arrays.fill(yes, 0, words, 0);
      Arrays.fill(no, 0, words, 0);
    }
    return this;
  }

  /** Sets the same judgement for all events. */
  void set(Judgement judgement, int words) {
    reset(words);
    if (judgement != Judgement.NEITHER) {
      Arrays.fill(judgement == Judgement.YES ? yes : no, 0, words, ~0L);
    }
  }

  void set(int event, Judgement judgement) {
    if (judgement != Judgement.NEITHER) {
      (judgement == Judgement.YES ? yes : no)[event >>> 6] |= 1L << event;
    }
  }
}
