package io.lifeline.jobs.core.filter;

/** Terms joined by CEL's logical operators. */
abstract class Combination extends Term {

  private long[] asked = {};

  static Term not(Term operand) {
    Judgement known = operand.always();
    if (known != null) {
      return new Always(known == Judgement.NEITHER ? known : Judgement.of(known == Judgement.NO));
    }
    return new Combination() {
      @Override
      MatchBits judge(EventGroup group, long[] wanted) {
        MatchBits of = operand.judge(group, wanted);
        int words = group.words();
        verdict.reset(words);
        System.arraycopy(of.no, 0, verdict.yes, 0, words);
        System.arraycopy(of.yes, 0, verdict.no, 0, words);
        return verdict;
      }
    };
  }

  static Term and(Term left, Term right) {
    if (left.always() == Judgement.NO || right.always() == Judgement.YES) {
      return left;
    }
    if (right.always() == Judgement.NO || left.always() == Judgement.YES) {
      return right;
    }
    return new Combination() {
      @Override
      MatchBits judge(EventGroup group, long[] wanted) {
        int words = group.words();
        MatchBits first = left.judge(group, wanted);
        MatchBits second = right.judge(group, except(wanted, first.no, words));
        verdict.reset(words);
        for (int i = 0; i < words; i++) {
          verdict.yes[i] = first.yes[i] & second.yes[i];
          verdict.no[i] = first.no[i] | second.no[i];
        }
        return verdict;
      }
    };
  }

  static Term or(Term left, Term right) {
    if (left.always() == Judgement.YES || right.always() == Judgement.NO) {
      return left;
    }
    if (right.always() == Judgement.YES || left.always() == Judgement.NO) {
      return right;
    }
    return new Combination() {
      @Override
      MatchBits judge(EventGroup group, long[] wanted) {
        int words = group.words();
        MatchBits first = left.judge(group, wanted);
        MatchBits second = right.judge(group, except(wanted, first.yes, words));
        verdict.reset(words);
        for (int i = 0; i < words; i++) {
          verdict.yes[i] = first.yes[i] | second.yes[i];
          verdict.no[i] = first.no[i] & second.no[i];
        }
        return verdict;
      }
    };
  }

  static Term choice(Term condition, Term then, Term otherwise) {
    if (condition.always() != null) {
      return switch (condition.always()) {
        case YES -> then;
        case NO -> otherwise;
        case NEITHER -> condition;
      };
    }
    return new Combination() {
      @Override
      MatchBits judge(EventGroup group, long[] wanted) {
        int words = group.words();
        MatchBits chosen = condition.judge(group, wanted);
        MatchBits first = then.judge(group, except(wanted, chosen.no, words));
        MatchBits second = otherwise.judge(group, except(wanted, chosen.yes, words));
        verdict.reset(words);
        for (int i = 0; i < words; i++) {
          verdict.yes[i] = chosen.yes[i] & first.yes[i] | chosen.no[i] & second.yes[i];
          verdict.no[i] = chosen.yes[i] & first.no[i] | chosen.no[i] & second.no[i];
        }
        return verdict;
      }
    };
  }

  /** Returns the wanted events without those already decided. */
  final long[] except(long[] wanted, long[] decided, int words) {
    if (asked.length < words) {
      asked = new long[words];
    }
    for (int i = 0; i < words; i++) {
      asked[i] = wanted[i] & ~decided[i];
    }
    return asked;
  }
}
