package io.lifeline.jobs.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RateTest {

  private final AtomicLong now = new AtomicLong();
  private final Rate rate = new Rate(now::get);

  private void passSeconds(long seconds) {
    now.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
  }

  @Test
  void whatIsSteadyIsItsOwnRate() {
    for (int second = 0; second < 25; second++) {
      rate.add(700);
      rate.add(300);
      passSeconds(1);
    }
    assertThat(rate.perSecond()).isEqualTo(1000);
  }

  @Test
  void theSecondThatIsNotOverDoesNotCountYet() {
    rate.add(50);
    assertThat(rate.perSecond()).isZero();
    passSeconds(1);
    assertThat(rate.perSecond()).isEqualTo(5);
  }

  @Test
  void whatIsOlderThanTenSecondsIsForgotten() {
    rate.add(50);
    passSeconds(10);
    assertThat(rate.perSecond()).isEqualTo(5);
    passSeconds(1);
    assertThat(rate.perSecond()).isZero();
  }

  @Test
  void aLongSilenceLeavesNothingBehind() {
    for (int second = 0; second < 10; second++) {
      rate.add(9);
      passSeconds(1);
    }
    passSeconds(1_000_003);
    assertThat(rate.perSecond()).isZero();
    rate.add(20);
    passSeconds(1);
    assertThat(rate.perSecond()).isEqualTo(2);
  }
}
