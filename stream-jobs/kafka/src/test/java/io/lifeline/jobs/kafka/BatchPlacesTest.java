package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Position;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.Test;

class BatchPlacesTest {
  private final MemoryState state = new MemoryState();

  /** Counts the partitions of 16 that accept a batch at the offset, over many emitters. */
  private double accepting(List<Integer> earlier, long end, long offset) {
    int accepted = 0;
    for (long number = 1; number <= 100; number++) {
      for (int partition = 0; partition < 16; partition++) {
        BatchPlaces places = new BatchPlaces(16, earlier, Map.of(partition, end));
        String elsewhere = places.task(partition, new MemoryState())
            .elsewhere(new Incarnation(number, number), new Position(partition, offset, 1));
        accepted += elsewhere == null ? 1 : 0;
      }
    }
    return accepted / 100.0;
  }

  @Test
  void onePartitionAcceptsAnEmittersBatches() {
    assertThat(accepting(List.of(), 0, 0)).isEqualTo(1);
    assertThat(accepting(List.of(), 10, 10)).isEqualTo(1);
    assertThat(accepting(List.of(4), 0, 0)).isBetween(1.5, 2.0);
  }

  /** How many partitions the topic had is unknown, and its batches must not be lost. */
  @Test
  void batchesOfBeforePartitionsWereRaisedAreAccepted() {
    assertThat(accepting(List.of(), 10, 9)).isGreaterThan(2);
    for (long number = 1; number <= 100; number++) {
      Incarnation emitter = new Incarnation(number, number);
      int before = Utils.toPositive(Utils.murmur2(emitter.toString().getBytes())) % 4;
      BatchPlaces history = new BatchPlaces(16, List.of(), Map.of(before, 10L));
      assertThat(history.task(before, new MemoryState()).elsewhere(emitter, new Position(before, 9, 1))).isNull();
      BatchPlaces known = new BatchPlaces(16, List.of(4), Map.of());
      assertThat(known.task(before, new MemoryState()).elsewhere(emitter, new Position(before, 99, 1))).isNull();
    }
  }

  @Test
  void aRestartMakesNoLaterBatchHistory() {
    Incarnation emitter = new Incarnation(0, 1);
    int elsewhere = BatchPlaces.partition(emitter, 16) == 0 ? 1 : 0;
    new BatchPlaces(16, List.of(1), Map.of(elsewhere, 10L)).task(elsewhere, state);
    BatchPlaces restarted = new BatchPlaces(16, List.of(), Map.of(elsewhere, 1000L));
    assertThat(restarted.task(elsewhere, state).elsewhere(emitter, new Position(elsewhere, 10, 1)))
        .startsWith("partition " + BatchPlaces.partition(emitter, 16) + " of 16");
  }
}
