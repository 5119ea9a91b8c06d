package io.lifeline.jobs.core.filter;

import java.util.Arrays;

/**
 * What a condition says of each of some events: yes, no, or neither, when it cannot be evaluated for that event. A bit
 * per event. Bits beyond the events mean nothing.
 */
final class Verdict {

  long[] yes = {};
  long[] no = {};

  /** Makes room for so many words, all of them neither. */
  Verdict reset(int words) {
    if (yes.length < words) {
      yes = new long[words];
      no = new long[words];
    } else {
      Arrays.fill(yes, 0, words, 0);
      Arrays.fill(no, 0, words, 0);
    }
    return this;
  }

  /** Says the same of all events. */
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
