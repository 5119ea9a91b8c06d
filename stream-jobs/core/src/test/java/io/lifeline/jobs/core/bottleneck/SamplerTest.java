package io.lifeline.jobs.core.bottleneck;

import static io.lifeline.jobs.core.TestBatches.START_MS;
import static io.lifeline.jobs.core.TestBatches.at;
import static io.lifeline.jobs.core.TestBatches.batch;
import static io.lifeline.jobs.core.TestBatches.emitter;
import static io.lifeline.jobs.core.TestBatches.read;
import static io.lifeline.jobs.core.TestBatches.tick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Recorder;
import io.lifeline.jobs.core.config.JobConfig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SamplerTest {

  static final EventType START = EventType.named("disk.read.start").field("id", FieldType.U64).build();
  static final EventType END =
      EventType.named("disk.read.end").field("id", FieldType.U64).field("nbytes", FieldType.U64, "B").build();
  static final EventType SUMMARY =
      EventType.named("lifeline.summary")
          .field("type", FieldType.STRING)
          .field("field", FieldType.STRING)
          .field("unit", FieldType.STRING)
          .field("interval", FieldType.U64, "ns")
          .field("count", FieldType.U64)
          .field("min", FieldType.F64)
          .field("max", FieldType.F64)
          .field("sum", FieldType.F64)
          .field("mean", FieldType.F64)
          .field("variance", FieldType.F64)
          .field("not_finite", FieldType.U64)
          .field("threads", FieldType.U32)
          .build();

  /** As emitters reported before they counted threads. */
  private static final EventType OLD_SUMMARY =
      EventType.named("lifeline.summary")
          .field("type", FieldType.STRING)
          .field("field", FieldType.STRING)
          .field("interval", FieldType.U64, "ns")
          .field("count", FieldType.U64)
          .field("sum", FieldType.F64)
          .field("variance", FieldType.F64)
          .build();

  private final Metrics metrics = new Metrics();
  private final Recorder output = new Recorder();
  private final List<Sample> samples = new ArrayList<>();
  private MemoryState state = new MemoryState();
  private Sampler sampler = sampler(Map.of());

  private Sampler sampler(Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(more);
    settings.put("broker.url", "nats://localhost");
    return new Sampler(
        BottleneckSettings.of(JobConfig.load(null, Map.of(), settings)), state, metrics,
        (sample, brokerTimeMs) -> samples.add(sample));
  }

  private void accept(BatchWriter writer, double brokerSeconds) {
    sampler.accept(read(writer), at(1, brokerSeconds), output);
    sampler.save();
  }

  /** Adds an operation of 1,000 bytes. */
  private static void operation(BatchWriter writer, long id, double startS, double endS) {
    writer.event(START, tick(startS), id).event(END, tick(endS), id, 1000L);
  }

  @Test
  void pairsBecomeASampleOfEachInterval() {
    BatchWriter writer = batch(1, 1);
    operation(writer, 1, 0.1, 0.2);
    operation(writer, 2, 0.2, 0.5);
    operation(writer, 3, 0.9, 1.1);
    accept(writer.finalBatch(true), 2);
    assertThat(samples).hasSize(2);
    Sample first = samples.get(0);
    assertThat(first.group()).isEqualTo("program=copy");
    assertThat(first.component()).isEqualTo("disk-read");
    assertThat(first.emitter()).isEqualTo(emitter(1).toString());
    assertThat(first.endNs()).isEqualTo(tick(1));
    assertThat(first.count()).isEqualTo(2);
    assertThat(first.bytes()).isEqualTo(2000);
    assertThat(first.busyNs()).isCloseTo(0.4e9, within(1.0));
    assertThat(first.workRate()).as("2,000 bytes in 0.4 s").isCloseTo(5000, within(0.1));
    assertThat(Math.sqrt(first.busyVariance())).as("of 0.1 s and 0.3 s").isCloseTo(0.1414e9, within(0.001e9));
    assertThat(samples.get(1).endNs()).as("by their ends").isEqualTo(tick(2));
  }

  @Test
  void theThreadsOfPairsAreCounted() {
    BatchWriter writer = batch(1, 1);
    for (long thread = 1; thread <= 3; thread++) {
      operation(writer.thread(thread), 1, 0.1, 0.2);
      operation(writer, 2, 0.2, 0.3);
    }
    operation(writer, 3, 1.1, 1.2);
    accept(writer.finalBatch(true), 2);
    assertThat(samples).extracting(Sample::threads).containsExactly(3L, 1L);
    assertThat(samples).allSatisfy(
        sample -> assertThat(Sample.fromBytes(sample.toBytes())).isEqualTo(sample));
  }

  @Test
  void theThreadsOfAReportWithoutTheirNumberAreUnknown() {
    accept(
        batch(1, 1)
            .event(OLD_SUMMARY, tick(10), "disk.read", "duration", 10_000_000_000L, 4L, 2e9, 0.0)
            .event(OLD_SUMMARY, tick(10), "disk.read", "value", 10_000_000_000L, 4L, 8000.0, 0.0),
        10);
    assertThat(samples).extracting(Sample::threads).containsExactly(0L);
  }

  @Test
  void anOperationMayBeginInOneBatchAndEndInAnotherAlsoAfterARestart() {
    accept(batch(1, 1).event(START, tick(0.5), 7L), 1);
    sampler = sampler(Map.of());
    accept(batch(1, 2).event(END, tick(2.5), 7L, 1000L).finalBatch(true), 3);
    assertThat(samples).singleElement().satisfies(sample -> assertThat(sample.busyNs()).isEqualTo(2e9));
  }

  @Test
  void anIntervalIsOverWhenLaterOnesHaveBegunOrTheEmitterWentSilent() {
    BatchWriter writer = batch(1, 1);
    operation(writer, 1, 0.1, 0.2);
    accept(writer, 1);
    assertThat(samples).isEmpty();
    sampler.punctuate(at(1, 3).brokerTimeMs(), output);
    assertThat(samples).isEmpty();
    sampler.punctuate(at(1, 5).brokerTimeMs(), output);
    assertThat(samples).hasSize(1);

    writer = batch(1, 2);
    operation(writer, 2, 5.1, 5.2);
    operation(writer, 3, 8.1, 8.2);
    accept(writer, 9);
    assertThat(samples).hasSize(2);
  }

  @Test
  void theLastBatchOfAnEmitterCompletesItsIntervalsThoughNoEventsWereLeftForIt() {
    BatchWriter writer = batch(1, 1);
    operation(writer, 1, 0.1, 0.2);
    accept(writer, 1);
    BatchWriter nothing =
        new BatchWriter().incarnation(emitter(1)).sequence(2).host("host-a").program("copy").pid(42)
            .ticks(START_MS * 1_000_000, 1_000_000_000, true).finalBatch(true);
    accept(nothing.route(1, "audit"), 1);
    assertThat(samples).as("another route may have ended before").isEmpty();
    accept(nothing.route(0, "default"), 1);
    assertThat(samples).hasSize(1);
    StringBuilder left = new StringBuilder();
    state.scan("bottleneck/", (key, value) -> left.append(key));
    assertThat(left).as("nothing is remembered").isEmpty();
  }

  @Test
  void anEndWithoutAStartIsCounted() {
    accept(batch(1, 1).event(END, tick(0.5), 7L, 1000L).finalBatch(true), 1);
    assertThat(samples).isEmpty();
    assertThat(metrics.text()).contains("lifeline_bottleneck_unpaired_total 1\n");
  }

  @Test
  void aCalipersReportIsASample() {
    BatchWriter writer = batch(1, 1);
    report(writer, "disk.read", "rate", 4, 1e9, 1e15);
    report(writer, "disk.read", "duration", 4, 2e9, 9e16);
    report(writer, "disk.read", "value", 4, 8000, 0);
    report(writer, "cpu.work", "value", 4, 8000, 0);
    accept(writer, 10);
    assertThat(samples)
        .containsExactly(
            new Sample(
                "program=copy", "disk-read", emitter(1).toString(), tick(10), 10_000_000_000L, 4, 8000, 2e9, 9e16,
                3));
  }

  @Test
  void operationsThatACaliperReportsAreNotTakenFromTheirEventsAsWell() {
    BatchWriter writer = batch(1, 1);
    report(writer, "disk.read", "duration", 4, 2e9, 9e16);
    report(writer, "disk.read", "value", 4, 8000, 0);
    operation(writer, 1, 0.1, 0.2);
    accept(writer.finalBatch(true), 10);
    assertThat(samples).hasSize(1);
  }

  @Test
  void aReportOfNothingOrOfNonsenseIsNone() {
    BatchWriter writer = batch(1, 1);
    report(writer, "disk.read", "duration", 0, 0, 0);
    report(writer, "disk.read", "value", 0, 0, 0);
    report(writer, "disk.read", "duration", 4, Double.NaN, 0);
    report(writer, "disk.read", "value", 4, 8000, 0);
    report(writer, "disk.read", "value", 4, Double.POSITIVE_INFINITY, 0);
    accept(writer.finalBatch(true), 10);
    assertThat(samples).isEmpty();
  }

  @Test
  void typesOfTheSameNameWithOtherFieldsDoNoHarm() {
    EventType start = EventType.named("disk.read.start").field("id", FieldType.STRING).build();
    EventType end =
        EventType.named("disk.read.end").field("id", FieldType.F64).field("nbytes", FieldType.STRING).build();
    EventType summary =
        EventType.named("lifeline.summary").field("type", FieldType.U64).field("field", FieldType.BYTES).build();
    accept(
        batch(1, 1)
            .event(start, tick(0.1), "x")
            .event(end, tick(0.2), 1.0, "y")
            .event(summary, tick(0.3), 5L, new byte[] {1})
            .finalBatch(true),
        1);
    assertThat(samples).isEmpty();
  }

  @Test
  void aSessionMakesAGroupOfItsOwn() {
    BatchWriter writer = batch(1, 1).context("session", "transfer 7");
    operation(writer, 1, 0.1, 0.2);
    accept(writer.finalBatch(true), 1);
    sampler = sampler(Map.of("bottleneck.by", "all"));
    writer = batch(2, 1).context("session", "transfer 7");
    operation(writer, 1, 0.1, 0.2);
    accept(writer.finalBatch(true), 1);
    assertThat(samples).extracting(Sample::group).containsExactly("session=transfer 7", "all");
  }

  @Test
  void whatIsRememberedOfAnEmitterThatStartsAndNeverEndsIsBounded() {
    BatchWriter writer = batch(1, 1);
    for (long id = 0; id < 5000; id++) {
      writer.event(START, tick(0.1), id);
    }
    writer.event(END, tick(0.2), 1L, 1000L).event(END, tick(0.2), 4999L, 1000L);
    accept(writer.finalBatch(true), 1);
    assertThat(samples).singleElement().satisfies(sample -> assertThat(sample.count()).isEqualTo(1));
  }

  static void report(BatchWriter writer, String type, String field, long count, double sum, double variance) {
    writer.event(
        SUMMARY, tick(10), type, field, "B", 10_000_000_000L, count, 0.0, 0.0, sum, sum / Math.max(1, count), variance,
        0L, 3);
  }
}
