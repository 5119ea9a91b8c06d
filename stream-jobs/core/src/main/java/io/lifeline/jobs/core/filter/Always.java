package io.lifeline.jobs.core.filter;

/** Gives the same judgement for all events of its type. */
final class Always extends Term {

  private final Judgement judgement;

  Always(Judgement judgement) {
    this.judgement = judgement;
  }

  @Override
  MatchBits judge(EventGroup group, long[] wanted) {
    verdict.set(judgement, group.words());
    return verdict;
  }

  @Override
  Judgement always() {
    return judgement;
  }
}
