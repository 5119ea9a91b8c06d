package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class EarlyCheckpointTest {

  private static final long LOOK_NS = EarlyCheckpoint.LOOK.toNanos();

  private final EarlyCheckpoint early = new EarlyCheckpoint(0);
  private int looks;

  @Test
  void isMadeForWhatIsStillDueAtTheNextLook() {
    assertThat(isTime(LOOK_NS, true)).as("what belongs to it may still be read").isFalse();
    assertThat(isTime(2 * LOOK_NS, true)).isTrue();
    assertThat(isTime(3 * LOOK_NS, true)).as("what has become due since is looked at twice as well").isFalse();
    assertThat(isTime(4 * LOOK_NS, true)).isTrue();
  }

  @Test
  void isNotMadeForWhatIsNoLongerDue() {
    assertThat(isTime(LOOK_NS, true)).isFalse();
    assertThat(isTime(2 * LOOK_NS, false)).isFalse();
    assertThat(isTime(3 * LOOK_NS, true)).isFalse();
    assertThat(isTime(4 * LOOK_NS, true)).isTrue();
  }

  @Test
  void looksSeldom() {
    for (long nowNs = 0; nowNs < LOOK_NS; nowNs += LOOK_NS / 10) {
      assertThat(isTime(nowNs, true)).isFalse();
    }
    assertThat(looks).isZero();
  }

  private boolean isTime(long nowNs, boolean isDue) {
    return early.isTime(nowNs, () -> {
      looks++;
      return isDue;
    });
  }
}
