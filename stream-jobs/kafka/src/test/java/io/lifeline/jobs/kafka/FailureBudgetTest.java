package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FailureBudgetTest {

  private long nowNs;
  private final FailureBudget budget = new FailureBudget(() -> nowNs);

  @Test
  void fewFailuresPassAndOneMoreDoesNot() {
    for (int i = 0; i < FailureBudget.MOST; i++) {
      assertThat(budget.allowsAnother()).isTrue();
    }
    assertThat(budget.allowsAnother()).isFalse();
  }

  @Test
  void oldFailuresAreForgotten() {
    for (int i = 0; i < FailureBudget.MOST; i++) {
      budget.allowsAnother();
    }
    nowNs = FailureBudget.WITHIN.toNanos() + 1;
    assertThat(budget.allowsAnother()).isTrue();
  }
}
