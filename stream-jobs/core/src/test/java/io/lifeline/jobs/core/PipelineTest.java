package io.lifeline.jobs.core;

import static io.lifeline.jobs.core.TestBatches.READ;
import static io.lifeline.jobs.core.TestBatches.at;
import static io.lifeline.jobs.core.TestBatches.batch;
import static io.lifeline.jobs.core.TestBatches.tick;
import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchReader;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PipelineTest {

  /** Walks the events of each batch, as jobs do. */
  private static final class CountingJob implements Job {
    private final List<String> calls = new ArrayList<>();

    @Override
    public String name() {
      return "count";
    }

    @Override
    public void accept(BatchReader batch, Position position, Output output) {
      int events = 0;
      while (batch.next()) {
        events++;
      }
      calls.add("accept " + batch.sequence() + " with " + events);
    }

    @Override
    public void duplicate(BatchReader batch, Position position) {
      calls.add("duplicate " + batch.sequence());
    }

    @Override
    public void expired(int partition, long from, long to) {
      calls.add("expired " + from + " to " + to);
    }
  }

  private final CountingJob first = new CountingJob();
  private final CountingJob second = new CountingJob();
  private final Recorder output = new Recorder();
  private final Metrics metrics = new Metrics();
  private final Pipeline pipeline =
      new Pipeline("task", new MemoryState(), 86_400_000, List.of(first, second), metrics);

  @Test
  void handsEveryNewBatchRewoundToEveryJob() {
    pipeline.accept(bytes(1, 5), at(1, 1), output);
    pipeline.accept(bytes(1, 5), at(2, 1), output);
    assertThat(first.calls).containsExactly("accept 1 with 1", "duplicate 1");
    assertThat(second.calls).isEqualTo(first.calls);
    assertThat(metrics.text())
        .contains("lifeline_batches_total{task=\"task\"} 1\n", "lifeline_duplicates_total{task=\"task\"} 1\n");
  }

  @Test
  void rejectsWhatIsNoBatchWithCodeAndPositionButWithoutItsBytes() {
    pipeline.accept("password".getBytes(), at(17, 1), output);
    assertThat(first.calls).isEmpty();
    Recorder.Sent rejected = output.messages().get(0);
    assertThat(rejected.to()).isEqualTo(Destination.REJECTED);
    assertThat(rejected.id()).isEqualTo("rejected:0:17");
    assertThat(rejected.value())
        .contains("\"code\":\"truncated\"", "\"partition\":0,\"offset\":17")
        .doesNotContain("password");
  }

  @Test
  void rejectsAConflictAndNamesTheBatch() {
    pipeline.accept(bytes(1, 5), at(1, 1), output);
    pipeline.accept(bytes(1, 6), at(2, 1), output);
    assertThat(output.messages()).hasSize(1);
    assertThat(output.messages().get(0).value())
        .contains("\"code\":\"conflict\"", "\"batch\":\"000000000000abcd0000000000000001-0-1\"");
    assertThat(first.calls).containsExactly("accept 1 with 1");
  }

  /** Where a group's messages lie among others', positions do not tell how many of its own have gone. */
  @Test
  void countsWhatExpiredWhereAllOfItWasItsOwn() {
    pipeline.expired(0, 10, 15, false);
    pipeline.expired(0, 20, 23, true);
    assertThat(first.calls).containsExactly("expired 10 to 15", "expired 20 to 23");
    assertThat(metrics.text())
        .contains("lifeline_expired_total{task=\"task\"} 3\n", "lifeline_expired_gaps_total{task=\"task\"} 2\n");
  }

  /** Where a topic has producers' times, one of them in 2096 must not have every batch forgotten. */
  @Test
  void aMessageFromTheFarFutureForgetsNothing() {
    long nowMs = System.currentTimeMillis();
    pipeline.accept(bytes(1, 5), new Position(0, 1, nowMs), output);
    pipeline.accept("no batch".getBytes(), new Position(0, 2, 4_000_000_000_000L), output);
    pipeline.accept(bytes(2, 5), new Position(0, 3, Long.MAX_VALUE), output);
    pipeline.punctuate(output);
    pipeline.accept(bytes(1, 5), new Position(0, 4, nowMs), output);
    assertThat(first.calls).containsExactly("accept 1 with 1", "accept 2 with 1", "duplicate 1");
  }

  @Test
  void aBatchThatComesForAGapThatWasGivenUpIsRejected() {
    for (long sequence = 2; sequence <= 2L * Deduplicator.MAX_RUNS + 4; sequence += 2) {
      pipeline.accept(bytes(sequence, 5), at(sequence, 1), output);
    }
    pipeline.accept(bytes(3, 5), at(100_000, 1), output);
    assertThat(output.messages()).hasSize(1);
    assertThat(output.messages().get(0).value()).contains("\"code\":\"too_many_gaps\"");
    assertThat(metrics.text()).contains("lifeline_gaps_given_up_total{task=\"task\"} 2\n");
  }

  @Test
  void letsTimePassOnlyOnceItKnowsWhatTimeItIs() {
    List<Long> times = new ArrayList<>();
    Job clock =
        new Job() {
          @Override
          public String name() {
            return "clock";
          }

          @Override
          public void accept(BatchReader batch, Position position, Output out) {}

          @Override
          public void punctuate(long nowMs, Output out) {
            times.add(nowMs);
          }
        };
    Pipeline timed = new Pipeline("timed", new MemoryState(), 86_400_000, List.of(clock), metrics);
    timed.punctuate(output);
    assertThat(times).isEmpty();
    timed.accept(bytes(1, 5), at(1, 3), output);
    timed.punctuate(output);
    assertThat(times.get(0)).isBetween(TestBatches.START_MS + 3000, TestBatches.START_MS + 30_000);
  }

  private static byte[] bytes(long sequence, long value) {
    return batch(1, sequence).event(READ, tick(1), value, value).toByteArray();
  }
}
