package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.jobs.core.MemoryState;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

class ReadPositionTest {

  private final MemoryState state = new MemoryState();
  private final List<String> expired = new ArrayList<>();

  private ReadPosition position(long logStart) {
    return position(CompletableFuture.completedFuture(logStart));
  }

  private ReadPosition position(CompletableFuture<Long> logStart) {
    return new ReadPosition(state, partition -> logStart, (partition, from, to) -> expired.add(from + ".." + to));
  }

  @Test
  void whatRetentionRemovedBeforeARestartIsTold() {
    ReadPosition before = position(0);
    before.reading(0, 9);
    before.save();

    ReadPosition after = position(50);
    after.reading(0, 50);
    after.lookIntoGaps();
    assertThat(expired).containsExactly("10..50");
  }

  /** Stream threads must poll and end in time, whatever the broker does. */
  @Test
  void aBrokerThatDoesNotSayWhereTheLogStartsHoldsUpNothing() {
    ReadPosition before = position(new CompletableFuture<>());
    before.reading(0, 9);
    before.reading(0, 50);
    before.reading(0, 60);
    before.lookIntoGaps();
    before.save();
    assertThat(expired).isEmpty();

    ReadPosition refused = position(CompletableFuture.failedFuture(new TimeoutException("no answer")));
    refused.reading(0, 61);
    refused.lookIntoGaps();
    assertThat(expired).isEmpty();

    CompletableFuture<Long> late = new CompletableFuture<>();
    ReadPosition after = position(late);
    after.lookIntoGaps();
    late.complete(55L);
    after.lookIntoGaps();
    after.lookIntoGaps();
    after.save();
    position(90).lookIntoGaps();
    assertThat(expired).containsExactly("10..50", "51..55");
  }

  /** The consumer goes back in silence to where the log ends, or to its start. */
  @Test
  void aTopicThatHasLostItsLastMessagesEndsTheJobs() {
    ReadPosition before = position(0);
    before.reading(0, 9);
    before.save();

    assertThatThrownBy(() -> position(0).reading(0, 8)).isInstanceOf(TopicReplacedException.class)
        .hasMessageContaining("up to offset 10").hasMessageContaining("continues at offset 8")
        .hasMessageContaining("kafka.application.id");
  }

  @Test
  void gapsOfTransactionsAreNotTakenForRetention() {
    ReadPosition position = position(0);
    position.reading(0, 9);
    position.reading(0, 12);
    position.lookIntoGaps();
    assertThat(expired).isEmpty();
  }

  @Test
  void aTopicThatIsReadForTheFirstTimeHasNothingExpired() {
    ReadPosition position = position(50);
    position.reading(0, 50);
    position.lookIntoGaps();
    assertThat(expired).isEmpty();
  }
}
