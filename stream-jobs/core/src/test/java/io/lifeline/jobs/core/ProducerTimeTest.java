package io.lifeline.jobs.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ProducerTimeTest {

  private static final long NOW_MS = 1_800_000_000_000L;
  private static final long HOUR_MS = Duration.ofHours(1).toMillis();

  private final ProducerTime time = new ProducerTime(() -> NOW_MS);

  @Test
  void whatIsNearTheNewestIsBelieved() {
    for (long ms : new long[] {NOW_MS - 100 * HOUR_MS, NOW_MS, NOW_MS - HOUR_MS, NOW_MS + HOUR_MS}) {
      assertThat(time.believable(0, 1, ms)).isEqualTo(ms);
    }
  }

  @Test
  void forWhatIsOutOfPlaceTheNewestOfThePartitionStandsIn() {
    time.believable(0, 1, NOW_MS - HOUR_MS);
    for (long ms : new long[] {Long.MIN_VALUE, -1, 1, NOW_MS - 3 * HOUR_MS, NOW_MS + 2 * HOUR_MS, Long.MAX_VALUE}) {
      assertThat(time.believable(0, 2, ms)).isEqualTo(NOW_MS - HOUR_MS);
    }
    assertThat(time.believable(1, 1, Long.MAX_VALUE)).as("the first of its partition").isEqualTo(NOW_MS);
  }
}
