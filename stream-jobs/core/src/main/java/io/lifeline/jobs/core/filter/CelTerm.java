package io.lifeline.jobs.core.filter;

import dev.cel.common.CelErrorCode;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelVariableResolver;
import dev.cel.runtime.Program;
import io.lifeline.jobs.core.filter.Variable.Scope;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A part of a condition that CEL's own runtime evaluates: once if the result is the same for all events of the type,
 * else once per batch or, which is slow, once per event.
 */
final class CelTerm extends Term implements CelVariableResolver {

  private final Program program;
  private final Variables variables;
  private final boolean perBatch;
  private final Consumer<CelErrorCode> trouble;
  private EventGroup group;
  private int event;

  private CelTerm(Program program, Variables variables, boolean perBatch, Consumer<CelErrorCode> trouble) {
    this.program = program;
    this.variables = variables;
    this.perBatch = perBatch;
    this.trouble = trouble;
  }

  /**
   * @param scope the events that share one result
   * @param trouble receives the reasons why events cannot be judged, except for missing fields
   */
  static Term of(Program program, Variables variables, Scope scope, Consumer<CelErrorCode> trouble) {
    CelTerm term = new CelTerm(program, variables, scope == Scope.BATCH, trouble);
    return scope == Scope.TYPE ? new Always(term.evaluate()) : term;
  }

  @Override
  MatchBits judge(EventGroup events, long[] wanted) {
    group = events;
    int words = events.words();
    if (perBatch) {
      event = 0;
      verdict.set(evaluate(), words);
      return verdict;
    }
    verdict.reset(words);
    for (int word = 0; word < words; word++) {
      for (long left = wanted[word]; left != 0; left &= left - 1) {
        event = (word << 6) + Long.numberOfTrailingZeros(left);
        verdict.set(event, evaluate());
      }
    }
    return verdict;
  }

  @Override
  public Optional<Object> find(String name) {
    Variable variable = variables.find(name);
    return variable == null ? Optional.empty() : Optional.of(variable.values().of(group, event));
  }

  private Judgement evaluate() {
    try {
      return Judgement.of(program.eval(this));
    } catch (CelEvaluationException e) {
      if (e.getErrorCode() != CelErrorCode.ATTRIBUTE_NOT_FOUND) {
        trouble.accept(e.getErrorCode());
      }
      return Judgement.NEITHER;
    }
  }
}
