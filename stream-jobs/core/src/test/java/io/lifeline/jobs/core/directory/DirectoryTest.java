package io.lifeline.jobs.core.directory;

import static io.lifeline.jobs.core.TestBatches.LOAD;
import static io.lifeline.jobs.core.TestBatches.READ;
import static io.lifeline.jobs.core.TestBatches.START_MS;
import static io.lifeline.jobs.core.TestBatches.batch;
import static io.lifeline.jobs.core.TestBatches.emitter;
import static io.lifeline.jobs.core.TestBatches.read;
import static io.lifeline.jobs.core.TestBatches.tick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lifeline.codec.BatchHeader;
import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.core.Glob;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DirectoryTest {
  private static final Glob ANY = Glob.of("*");
  private static final EventType SUMMARY = EventType.named("lifeline.summary").field("type", FieldType.STRING)
      .field("field", FieldType.STRING).field("count", FieldType.U64).build();
  private static final EventType START = EventType.named("lifeline.activation.start").field("id", FieldType.STRING)
      .field("line", FieldType.STRING).build();
  private static final EventType END = EventType.named("lifeline.activation.end").field("id", FieldType.STRING)
      .field("reason", FieldType.STRING).build();
  private static final EventType FORGED = EventType.named("lifeline.activation.end").field("id", FieldType.U64)
      .field("reason", FieldType.F64).build();

  private static final int MOST_EMITTERS = 1_000;
  private static final long MOST_BYTES = 8 << 20;

  private long nanoTime;
  private final Directory directory = new Directory(() -> nanoTime, MOST_EMITTERS, MOST_BYTES);

  @Test
  void anEmitterIsDescribedByItsBatches() {
    add(1, batch(1, 1).event(READ, tick(1), 1L, 10L).counter(Counter.EMITTED, 5).counter(Counter.DROPPED_RING_FULL, 4));
    add(3, batch(1, 2).event(LOAD, tick(2), 0.5).counter(Counter.EMITTED, 9).counter(Counter.DROPPED_RING_FULL, 7));
    EmitterRow row = directory.rows().get(0);
    assertThat(row.incarnation()).isEqualTo(emitter(1));
    assertThat(row.program()).isEqualTo("copy");
    assertThat(row.firstMs()).isEqualTo(START_MS + 1000);
    assertThat(row.lastMs()).isEqualTo(START_MS + 3000);
    assertThat(row.types()).isEqualTo(2);
    assertThat(row.counters()).containsEntry(Counter.EMITTED, 9L);
    assertThat(row.drops()).isEqualTo(Map.of("ring_full", 7L));
    assertThat(row.eventsPerSecond()).isEqualTo(1);
    assertThat(row.ended()).isFalse();
  }

  @Test
  void countersComeFromTheNewestBatchWhateverTheOrder() {
    add(1, batch(1, 2).counter(Counter.EMITTED, 9));
    add(2, batch(1, 1).counter(Counter.EMITTED, 5));
    assertThat(directory.rows().get(0).counters()).containsEntry(Counter.EMITTED, 9L);
  }

  @Test
  void aRepeatedBatchCountsOnce() {
    add(1, batch(1, 1).event(READ, tick(1), 1L, 10L));
    add(2, batch(1, 1).event(READ, tick(1), 1L, 10L));
    assertThat(directory.rows().get(0).eventsPerSecond()).isEqualTo(1);
    assertThat(directory.rows().get(0).lastMs()).isEqualTo(START_MS + 1000);
  }

  @Test
  void anEmitterHasEndedWhenAllItsRoutesHave() {
    add(1, batch(1, 1).route(0, "default").flags(BatchHeader.FINAL));
    assertThat(directory.rows().get(0).ended()).isTrue();
    add(2, batch(1, 1).route(1, "audit"));
    assertThat(directory.rows().get(0).ended()).isFalse();
    add(3, batch(1, 2).route(1, "audit").flags(BatchHeader.FINAL));
    assertThat(directory.rows().get(0).ended()).isTrue();
  }

  @Test
  void aRateEndsAMinuteAfterTheLastEvent() {
    for (int second = 0; second < 120; second++) {
      add(second, batch(1, second + 1).event(READ, tick(second), 1L, 1L).event(READ, tick(second), 2L, 1L));
    }
    assertThat(directory.rows().get(0).eventsPerSecond()).isCloseTo(2, within(0.2));
    nanoTime += 30_000_000_000L;
    assertThat(directory.rows().get(0).eventsPerSecond()).isBetween(0.5, 1.5);
    nanoTime += 40_000_000_000L;
    assertThat(directory.rows().get(0).eventsPerSecond()).isZero();
  }

  @Test
  void theEstimateCountsWhatActivationsKeepBack() {
    for (int second = 0; second < 60; second++) {
      add(second, batch(1, second + 1).type(3, SUMMARY)
          .event(SUMMARY, tick(second), "disk.write.end", "nbytes", 100L)
          .event(SUMMARY, tick(second), "disk.write.end", "offset", 100L)
          .event(READ, tick(second), 1L, 1L)
          .counter(Counter.FOLDED, 100 * (second + 1)).counter(Counter.SAMPLED_OUT, 9 * (second + 1)));
    }
    Estimate all = directory.estimate(Glob.of("disk.*"), ANY, ANY);
    assertThat(all.emitters()).isEqualTo(1);
    assertThat(all.types()).isEqualTo(2);
    assertThat(all.eventsPerSecond()).as("folded + sampled + seen").isCloseTo(110, within(11.0));
    assertThat(all.bytesPerSecond()).isGreaterThan(110 * 20);
    assertThat(directory.estimate(Glob.of("disk.*"), Glob.of("other*"), ANY).known()).isFalse();
    assertThat(directory.estimate(Glob.of("net.*"), ANY, ANY).known()).isFalse();
  }

  @Test
  void answersSayWhoFollows() {
    add(1, batch(1, 1).type(3, START).event(START, tick(1), "slow", "disk.* full for=5m"));
    assertThat(directory.rows().get(0).answers().get("slow"))
        .isEqualTo(new Answer(Answer.State.IN_FORCE, tick(1), "disk.* full for=5m", null));
    add(9, batch(1, 2).type(3, END).event(END, tick(8), "slow", "withdrawn"));
    assertThat(directory.rows().get(0).answers().get("slow"))
        .isEqualTo(new Answer(Answer.State.ENDED, tick(8), "disk.* full for=5m", "withdrawn"));
  }

  @Test
  void eventsWithTheNameOfAnAnswerAndOtherFieldsAreIgnored() {
    add(1, batch(1, 1).type(3, FORGED).event(FORGED, tick(1), 7L, 1.0));
    assertThat(directory.rows().get(0).answers()).isEmpty();
  }

  @Test
  void aClockThatIsAheadShowsAsNegative() {
    add(1, batch(1, 1).calibration(tick(0), tick(0), 5_000_000_000L, 700, false).event(READ, tick(1), 1L, 1L));
    EmitterRow row = directory.rows().get(0);
    assertThat(row.clockMs()).isEqualTo(-4000);
    assertThat(row.clockErrorNs()).isEqualTo(700);
  }

  @Test
  void manyEmittersAreBoundedAndThoseThatRunStay() {
    add(0, batch(0, 1));
    for (int i = 1; i <= MOST_EMITTERS + 100; i++) {
      add(i / 1000.0, batch(i, 1).flags(BatchHeader.FINAL));
    }
    assertThat(directory.rows()).hasSizeBetween(MOST_EMITTERS / 2, MOST_EMITTERS)
        .anyMatch(row -> row.incarnation().equals(emitter(0)));
  }

  @Test
  void theMemoryOfEndlessTypesIsBoundedAndModestEmittersStay() {
    add(0, batch(0, 1).event(READ, tick(0), 1L, 1L));
    for (int i = 1; i <= 30; i++) {
      for (int part = 1; part <= 2; part++) {
        BatchWriter hostile = batch(i, part).type(3, SUMMARY);
        for (int type = 0; type < 500; type++) {
          hostile.event(SUMMARY, tick(i), "x".repeat(1000) + part + "." + type, "f", 1L);
        }
        add(i, hostile);
      }
    }
    assertThat(directory.rows().stream().mapToLong(EmitterRow::types).sum())
        .isLessThan(MOST_BYTES / 1000);
    assertThat(directory.rows()).anyMatch(row -> row.incarnation().equals(emitter(0)));
  }

  @Test
  void countsThatNobodyCanHaveCountedDoNotHideALoudEmitter() {
    BatchWriter hostile = batch(1, 1).type(3, SUMMARY).event(READ, tick(1), 1L, 1L)
        .counter(Counter.SAMPLED_OUT, Long.MAX_VALUE);
    for (int i = 0; i < 3; i++) {
      hostile.event(SUMMARY, tick(1), "disk.write.end", "nbytes", Long.MAX_VALUE);
    }
    add(1, hostile);
    assertThat(directory.estimate(ANY, ANY, ANY).eventsPerSecond()).isGreaterThan(1e17);
  }

  @Test
  void aTimeInTheFutureDoesNotStopTheRatesOfOthers() {
    long nowMs = System.currentTimeMillis();
    BatchWriter hostile = batch(1, 1).event(READ, tick(1), 1L, 1L);
    directory.add(read(hostile), Long.MAX_VALUE, hostile.toByteArray().length);
    for (int i = 1; i <= 100; i++) {
      BatchWriter modest = batch(2, i).event(READ, tick(1), 1L, 1L);
      directory.add(read(modest), nowMs, modest.toByteArray().length);
    }
    assertThat(directory.rows().get(0).lastMs()).isLessThan(nowMs + 60_000);
    assertThat(directory.estimate(ANY, Glob.of("copy"), ANY).eventsPerSecond()).isGreaterThan(2);
  }

  @Test
  void sequencesWithGapsAreBounded() {
    for (int i = 1; i <= 5000; i++) {
      add(0, batch(1, 2 * i).event(READ, tick(1), 1L, 1L));
    }
    add(0, batch(1, 10_000).event(READ, tick(1), 1L, 1L));
    assertThat(directory.rows().get(0).eventsPerSecond()).isEqualTo(5000);
  }

  private void add(double second, BatchWriter writer) {
    BatchReader batch = read(writer);
    directory.add(batch, START_MS + Math.round(second * 1000), writer.toByteArray().length);
    assertThat(batch.eventCount() == 0 || batch.next()).isTrue();
  }
}
