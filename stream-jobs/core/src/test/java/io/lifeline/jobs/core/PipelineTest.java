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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PipelineTest {

  /** Iterates over the events of each batch, as jobs do. */
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
      new Pipeline("task", new MemoryState(), 86_400_000, Placement.ANYWHERE, List.of(first, second), metrics);

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

  @Test
  void rejectsWhatBelongsToAnotherTask() {
    Placement placement = (emitter, position) -> position.partition() == 0 ? null : "partition 0";
    Pipeline placed = new Pipeline("placed", new MemoryState(), DAY_MS, placement, List.of(first), metrics);
    placed.accept(bytes(1, 5), new Position(1, 1, at(1, 1).brokerTimeMs()), output);
    assertThat(first.calls).isEmpty();
    assertThat(output.messages().get(0).value())
        .contains("\"code\":\"misplaced\"", "belong into partition 0", "\"batch\":\"")
        .contains("000000000000abcd0000000000000001-0-1");
    placed.accept(bytes(1, 5), at(2, 1), output);
    assertThat(first.calls).containsExactly("accept 1 with 1");
    assertThat(metrics.text()).contains("lifeline_rejected_total{task=\"placed\"} 1\n");
  }

  /** If a group's messages are interleaved with others', positions do not show how many of its own have expired. */
  @Test
  void countsWhatExpiredWhereAllOfItWasItsOwn() {
    pipeline.expired(0, 10, 15, false);
    pipeline.expired(0, 20, 23, true);
    assertThat(first.calls).containsExactly("expired 10 to 15", "expired 20 to 23");
    assertThat(metrics.text())
        .contains("lifeline_expired_total{task=\"task\"} 3\n", "lifeline_expired_gaps_total{task=\"task\"} 2\n");
  }

  private static final long DAY_MS = 86_400_000;
  private long nanos;

  private Pipeline week(KeyedState state) {
    return new Pipeline("week", state, 7 * DAY_MS, Placement.ANYWHERE, List.of(first), metrics, () -> nanos);
  }

  /** Accepts a batch per hour, with broker timestamps that are wrong by the given time. */
  private long live(Pipeline pipeline, long sequence, long startMs, int hours, long wrongMs) {
    for (int hour = 1; hour <= hours; hour++) {
      nanos += DAY_MS / 24 * 1_000_000;
      long stampMs = startMs + hour * DAY_MS / 24 + wrongMs;
      pipeline.accept(bytes(sequence + hour, 5), new Position(0, sequence + hour, stampMs), output);
      pipeline.punctuate(output);
    }
    return startMs + hours * DAY_MS / 24;
  }

  /** In both directions, with and without restarts of the job. */
  @ParameterizedTest
  @CsvSource({"40, false", "40, true", "-40, false", "-40, true"})
  void aBrokersClockThatIsWrongAndThenRightForgetsNothingThatIsNotSilent(int days, boolean restarts) {
    KeyedState state = new MemoryState();
    Pipeline job = week(state);
    byte[] silent = batch(2, 1).event(READ, tick(1), 5, 5).toByteArray();
    long nowMs = live(job, 0, TestBatches.START_MS, 10, days * DAY_MS);
    job.accept(silent, new Position(0, 1000, nowMs + days * DAY_MS), output);
    for (int part = 0; part < 5; part++) {
      if (restarts) {
        job.save();
        job = week(state);
      }
      nowMs = live(job, 10 + 24 * part, nowMs, 24, 0);
    }
    first.calls.clear();
    job.accept(silent, new Position(0, 2000, nowMs), output);
    assertThat(first.calls).containsExactly("duplicate 1");
    live(job, 1000, nowMs, 24 * 10, 0);
    first.calls.clear();
    job.accept(silent, new Position(0, 3000, nowMs + 10 * DAY_MS), output);
    assertThat(first.calls).as("silent for longer than the retention").containsExactly("accept 1 with 1");
  }

  /** Producers may set any timestamp: the emitter is not silent, whatever its timestamps are. */
  @Test
  void aMessageFromThePastIsForgottenNoEarlierThanOthers() {
    Pipeline job = week(new MemoryState());
    long nowMs = live(job, 0, TestBatches.START_MS, 10, 0);
    byte[] old = batch(2, 1).event(READ, tick(1), 5, 5).toByteArray();
    job.accept(old, new Position(0, 1000, 1), output);
    live(job, 10, nowMs, 24, 0);
    first.calls.clear();
    job.accept(old, new Position(0, 2000, 1), output);
    assertThat(first.calls).containsExactly("duplicate 1");
  }

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

  /** Stream time is the broker's time, independent of the local clock. */
  @Test
  void theBrokersTimeIsHandedOnAsItIs() {
    List<Long> times = new ArrayList<>();
    Job clock =
        new Job() {
          @Override
          public String name() {
            return "clock";
          }

          @Override
          public void accept(BatchReader batch, Position position, Output out) {
            times.add(position.brokerTimeMs());
          }

          @Override
          public void punctuate(long nowMs, Output out) {
            times.add(nowMs);
          }
        };
    Pipeline timed =
        new Pipeline(
            "timed", new MemoryState(), DAY_MS, Placement.ANYWHERE, List.of(clock), metrics, () -> nanos);
    for (int days : new int[] {-40, 40}) {
      long stampMs = System.currentTimeMillis() + days * DAY_MS;
      timed.accept(bytes(50 + days, 5), new Position(0, 50 + days, stampMs), output);
      timed.punctuate(output);
      assertThat(times).containsExactly(stampMs, stampMs);
      times.clear();
    }
  }

  @Test
  void aRepeatThatCannotBeComparedAnyMoreIsReported() {
    Pipeline job = week(new MemoryState());
    long nowMs = live(job, 0, TestBatches.START_MS, 1000, 0);
    job.accept(bytes(1, 5), new Position(0, 2000, nowMs), output);
    assertThat(output.messages()).hasSize(1);
    assertThat(output.messages().get(0).value()).contains("\"code\":\"unverifiable\"");
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
    Pipeline timed =
        new Pipeline("timed", new MemoryState(), 86_400_000, Placement.ANYWHERE, List.of(clock), metrics);
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
