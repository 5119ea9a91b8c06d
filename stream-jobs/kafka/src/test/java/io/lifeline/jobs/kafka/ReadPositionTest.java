package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.core.MemoryState;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReadPositionTest {

  private final MemoryState state = new MemoryState();
  private final List<String> expired = new ArrayList<>();

  private ReadPosition position(long logStart) {
    return new ReadPosition(state, partition -> logStart, (partition, from, to) -> expired.add(from + ".." + to));
  }

  @Test
  void whatRetentionRemovedBeforeARestartIsTold() {
    ReadPosition before = position(0);
    before.reading(0, 9);
    before.save();

    position(50).reading(0, 50);
    assertThat(expired).containsExactly("10..50");
  }

  @Test
  void gapsOfTransactionsAreNotTakenForRetention() {
    ReadPosition position = position(0);
    position.reading(0, 9);
    position.reading(0, 12);
    assertThat(expired).isEmpty();
  }

  @Test
  void aTopicThatIsReadForTheFirstTimeHasNothingExpired() {
    position(50).reading(0, 50);
    assertThat(expired).isEmpty();
  }
}
