package io.lifeline.jobs.core.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.Incarnation;
import org.junit.jupiter.api.Test;

class SeenBatchesTest {

  private static final Incarnation FIRST = new Incarnation(1, 1);
  private static final Incarnation SECOND = new Incarnation(1, 2);

  @Test
  void knowsABatchByIncarnationRouteAndSequence() {
    SeenBatches seen = new SeenBatches();
    assertThat(seen.add(FIRST, 0, 1)).isTrue();
    assertThat(seen.add(FIRST, 0, 1)).isFalse();
    assertThat(seen.add(FIRST, 1, 1)).isTrue();
    assertThat(seen.add(SECOND, 0, 1)).isTrue();
    assertThat(seen.add(FIRST, 0, 3)).isTrue();
    assertThat(seen.add(FIRST, 0, 2)).isTrue();
    assertThat(seen.add(FIRST, 0, 1)).isFalse();
    assertThat(seen.add(FIRST, 0, 3)).isFalse();
  }

  @Test
  void forgetsTheRouteThatWasSilentLongest() {
    SeenBatches seen = new SeenBatches(2);
    seen.add(FIRST, 0, 1);
    seen.add(FIRST, 1, 1);
    seen.add(FIRST, 0, 2);
    seen.add(FIRST, 2, 1);
    assertThat(seen.add(FIRST, 0, 1)).isFalse();
    assertThat(seen.add(FIRST, 1, 1)).isTrue();
  }
}
