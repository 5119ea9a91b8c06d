package io.lifeline.jobs.core.filter;

import static io.lifeline.jobs.core.TestBatches.read;
import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.cases.Cases;
import io.lifeline.codec.BatchReader;
import io.lifeline.codec.ColumnarBatch;
import io.lifeline.codec.ColumnarBatch.Columns;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A compiled condition judges every event like CEL's own runtime, even if it cannot be evaluated. */
class ConditionPropertyTest {

  private static final int EVENTS = 90;

  @Test
  void aCompiledConditionJudgesEveryEventAsCelDoes() {
    Cases.each(100, any -> {
      Condition condition = Condition.parse(any.made(() -> Expressions.condition(any, any.upTo(3))));
      BatchReader batch = read(Samples.random(new Random(any.number()), EVENTS));
      for (Columns columns : new ColumnarBatch().fill(batch).groups()) {
        EventGroup group = new EventGroup(batch, columns);
        long[] all = {~0L, ~0L};
        MatchBits compiled = condition.on(columns.type(), code -> {}).judge(group, all);
        MatchBits interpreted = condition.interpretedOn(columns.type()).judge(group, all);
        assertThat(judgements(compiled, columns)).isEqualTo(judgements(interpreted, columns));
      }
    });
  }

  private static List<Judgement> judgements(MatchBits verdict, Columns columns) {
    List<Judgement> judgements = new ArrayList<>();
    for (int event = 0; event < columns.size(); event++) {
      long bit = 1L << event;
      judgements.add(
          (verdict.yes[event >> 6] & bit) != 0
              ? Judgement.YES
              : (verdict.no[event >> 6] & bit) != 0 ? Judgement.NO : Judgement.NEITHER);
    }
    return judgements;
  }
}
