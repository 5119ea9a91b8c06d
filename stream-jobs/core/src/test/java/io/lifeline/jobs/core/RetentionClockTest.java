package io.lifeline.jobs.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RetentionClockTest {

  private static final long START_MS = 1_800_000_000_000L;
  private static final long HOUR_MS = Duration.ofHours(1).toMillis();
  private static final long DAY_MS = 24 * HOUR_MS;

  private final MemoryState state = new MemoryState();
  private long nanos;

  private RetentionClock started() {
    return new RetentionClock(state, () -> nanos);
  }

  private void pass(long ms) {
    nanos += ms * 1_000_000;
  }

  @Test
  void followsTheBrokersTimeWhileThatPassesAsTimeDoes() {
    RetentionClock clock = started();
    assertThat(clock.isSet()).isFalse();
    for (long ms = 0; ms <= DAY_MS; ms += 100) {
      clock.observe(START_MS + ms);
      pass(100);
    }
    assertThat(clock.nowMs()).isBetween(START_MS + DAY_MS - 2000, START_MS + DAY_MS + 100);
  }

  @Test
  void aJumpAheadIsMadeUpForSlowly() {
    RetentionClock clock = started();
    clock.observe(START_MS);
    pass(HOUR_MS);
    clock.observe(START_MS + 40 * DAY_MS);
    assertThat(clock.nowMs()).isEqualTo(START_MS + HOUR_MS + HOUR_MS / 10);
    pass(10 * DAY_MS);
    clock.observe(START_MS + 50 * DAY_MS);
    assertThat(clock.nowMs()).isBetween(START_MS + 10 * DAY_MS, START_MS + 12 * DAY_MS);
  }

  @Test
  void standsStillWhileTheBrokersTimeDoes() {
    RetentionClock clock = started();
    clock.observe(START_MS);
    for (int hour = 0; hour < 100; hour++) {
      pass(HOUR_MS);
      clock.observe(START_MS - 40 * DAY_MS);
    }
    assertThat(clock.nowMs()).isEqualTo(START_MS);
  }

  @Test
  void goesOnAfterARestartWhereItWas() {
    RetentionClock before = started();
    before.observe(START_MS);
    before.save();
    RetentionClock after = started();
    pass(1000);
    after.observe(START_MS + 40 * DAY_MS);
    assertThat(after.nowMs()).isEqualTo(START_MS + 1100);
  }

  @Test
  void catchesUpAlsoIfItIsRestartedMeanwhile() {
    RetentionClock first = started();
    first.observe(START_MS);
    first.save();
    long ms = START_MS + DAY_MS; // an outage
    for (int hour = 0; hour < 20 * 24; hour++) {
      RetentionClock clock = started();
      pass(HOUR_MS);
      ms += HOUR_MS;
      clock.observe(ms);
      clock.save();
    }
    assertThat(started().nowMs()).isEqualTo(ms);
  }

  @Test
  void timesThatAreNoneHarmNobody() {
    RetentionClock clock = started();
    for (long ms : new long[] {Long.MIN_VALUE, START_MS, Long.MAX_VALUE, -1, Long.MAX_VALUE}) {
      clock.observe(ms);
      pass(2000);
    }
    assertThat(clock.nowMs()).isBetween(0L, 20_000L);
  }
}
