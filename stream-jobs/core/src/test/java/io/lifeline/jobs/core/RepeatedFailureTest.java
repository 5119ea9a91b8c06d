package io.lifeline.jobs.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RepeatedFailureTest {
  private final AtomicLong now = new AtomicLong(-5);
  private final RepeatedFailure failure = new RepeatedFailure(now::get);

  @Test
  void aTextIsNewsWhenItChangesOrAfterSomeMinutes() {
    assertThat(failure.isNews("a")).isTrue();
    assertThat(failure.isNews("a")).isFalse();
    assertThat(failure.isNews("b")).isTrue();
    assertThat(failure.isNews("a")).isTrue();
    now.addAndGet(Duration.ofMinutes(9).toNanos());
    assertThat(failure.isNews("a")).isFalse();
    now.addAndGet(Duration.ofMinutes(1).toNanos());
    assertThat(failure.isNews("a")).isTrue();
    assertThat(failure.isNews("a")).isFalse();
  }

  @Test
  void theSameFailureAfterASuccessIsNews() {
    assertThat(failure.isNews("a")).isTrue();
    failure.ends();
    assertThat(failure.isNews("a")).isTrue();
  }
}
