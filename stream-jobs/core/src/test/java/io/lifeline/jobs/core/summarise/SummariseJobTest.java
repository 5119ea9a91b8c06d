package io.lifeline.jobs.core.summarise;

import static io.lifeline.jobs.core.TestBatches.LOAD;
import static io.lifeline.jobs.core.TestBatches.READ;
import static io.lifeline.jobs.core.TestBatches.START_MS;
import static io.lifeline.jobs.core.TestBatches.at;
import static io.lifeline.jobs.core.TestBatches.batch;
import static io.lifeline.jobs.core.TestBatches.read;
import static io.lifeline.jobs.core.TestBatches.tick;
import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchWriter;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Recorder;
import io.lifeline.jobs.core.Recorder.Sent;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import io.lifeline.jobs.core.config.JobConfig;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SummariseJobTest {

  private final Metrics metrics = new Metrics();
  private final Recorder output = new Recorder();
  private MemoryState state = new MemoryState();
  private SummariseSettings settings = settings(Map.of("summarise.fields", "*:nbytes"));
  private SummariseJob job = new SummariseJob(settings, state, metrics);

  @Test
  void publishesAWindowWhenItsEmitterHasPassedItsEnd() {
    accept(1, 1, 5, reads(1, 1, 5));
    punctuate(5);
    assertThat(output.take()).isEmpty();
    accept(1, 2, 11, reads(1, 2, 10.5));
    punctuate(11);
    Sent summary = onlyOne();
    assertThat(summary.key()).isEqualTo("summarise:1700000000000000000:field=nbytes,unit=B,type=disk.read.end");
    assertThat(summary.id()).isEqualTo(summary.key() + ":1");
    assertThat(summary.value())
        .startsWith("{\"job\":\"summarise\",\"window_start\":\"2023-11-14T22:13:20.000000000Z\",")
        .contains("\"revision\":1,", "\"field\":\"nbytes\"", "\"unit\":\"B\"", "\"type\":\"disk.read.end\"")
        .contains("\"count\":1,");
  }

  @Test
  void waitsForTheSlowestEmitterButNotForOneThatIsIdleOrDone() {
    accept(1, 1, 1, reads(1, 1, 1));
    accept(2, 1, 12, reads(2, 1, 12));
    punctuate(12);
    assertThat(output.take()).as("emitter 1 may still send for this window").isEmpty();
    accept(2, 2, 30, reads(2, 2, 19));
    punctuate(31);
    assertThat(onlyOne().value()).as("emitter 1 is idle for 30 s").contains("\"count\":1,");
    accept(2, 3, 31, reads(2, 3, 21).finalBatch(true));
    punctuate(31);
    assertThat(output.take()).as("the last has said its last word, and time has passed two more ends").hasSize(2);
  }

  @Test
  void publishesARevisionWhenLateDataChangesAWindow() {
    accept(1, 1, 1, reads(1, 1, 1));
    accept(1, 2, 25, reads(1, 2, 25));
    punctuate(25);
    assertThat(onlyOne().id()).endsWith(":1");
    accept(2, 1, 26, reads(2, 1, 2, 3));
    punctuate(26);
    Sent revision = onlyOne();
    assertThat(revision.id()).endsWith(":2");
    assertThat(revision.value()).contains("\"revision\":2,", "\"count\":3,");
    punctuate(27);
    assertThat(output.take()).as("nothing has changed since").isEmpty();
  }

  @Test
  void isDueOnceForEachWindowAndNotForItsRevisions() {
    assertThat(isDue(1)).isFalse();
    accept(1, 1, 5, reads(1, 1, 5));
    assertThat(isDue(5)).isFalse();
    accept(1, 2, 11, reads(1, 2, 10.5));
    assertThat(isDue(11)).isTrue();
    punctuate(11);
    assertThat(isDue(11)).as("it is published").isFalse();
    accept(1, 3, 12, reads(1, 3, 4));
    assertThat(isDue(12)).as("a revision can wait").isFalse();
    accept(2, 1, 13, reads(2, 1, 12));
    accept(1, 4, 25, reads(1, 4, 25));
    assertThat(isDue(25)).as("emitter 2 may still send").isFalse();
    assertThat(isDue(43)).as("emitter 2 is idle").isTrue();
  }

  @Test
  void countsDataThatCameTooLateForItsWindow() {
    accept(1, 1, 1, reads(1, 1, 1));
    accept(1, 2, 3700, reads(1, 2, 3700));
    punctuate(3700);
    output.take();
    accept(2, 1, 3701, reads(2, 1, 2, 3));
    punctuate(3701);
    assertThat(output.take()).isEmpty();
    assertThat(metric("lifeline_summarise_late_values_total")).isEqualTo(2);
  }

  @Test
  void forgetsWindowsThatNothingCanChangeAnyMore() {
    accept(1, 1, 1, reads(1, 1, 1));
    accept(1, 2, 3700, reads(1, 2, 3700));
    punctuate(3700);
    job.save();
    int[] windows = {0};
    state.scan("summarise/window/", (key, value) -> windows[0]++);
    assertThat(windows[0]).isEqualTo(1);
  }

  @Test
  void doesNotLetAClockThatRunsAheadCloseWindows() {
    accept(1, 1, 1, reads(1, 1, 1));
    accept(2, 1, 1, reads(2, 1, 200));
    punctuate(2);
    assertThat(output.take()).isEmpty();
    assertThat(metric("lifeline_summarise_skewed_total")).isEqualTo(1);
  }

  @Test
  void isNotHeldBackByAnEmitterThatSendsCountersAlone() {
    accept(1, 1, 1, reads(1, 1, 1));
    accept(1, 2, 45, reads(1, 2, 45));
    accept(2, 1, 45, reads(2, 1));
    punctuate(45);
    assertThat(onlyOne().value()).contains("\"window_end\":\"2023-11-14T22:13:30.000000000Z\"");
  }

  @Test
  void leavesOutWindowsThatLieHoursAhead() {
    accept(1, 1, 1, reads(1, 1, 1, 7300));
    job.save();
    assertThat(metric("lifeline_summarise_early_values_total")).isEqualTo(1);
  }

  @Test
  void holdsNoMoreWindowsThanItMay() {
    settings = settings(Map.of("summarise.fields", "*:nbytes", "summarise.max.windows", "2"));
    job = new SummariseJob(settings, state, metrics);
    accept(1, 1, 31, reads(1, 1, 1, 11, 21, 22));
    accept(1, 2, 31, reads(1, 2, 2, 12));
    assertThat(metric("lifeline_summarise_overflow_values_total")).isEqualTo(2);
    accept(1, 3, 3700, reads(1, 3, 3700));
    punctuate(3700);
    assertThat(output.take()).as("the two that were held").hasSize(2);
    accept(1, 4, 3701, reads(1, 4, 3701, 3691));
    assertThat(metric("lifeline_summarise_overflow_values_total")).as("the first made room").isEqualTo(3);
  }

  @Test
  void makesNoMoreOfABatchThatIsScatteredOverTimeThanItMay() {
    settings = settings(Map.of("summarise.fields", "*:nbytes", "summarise.window", "1s"));
    job = new SummariseJob(settings, state, metrics);
    accept(1, 1, 1, reads(1, 1, IntStream.range(0, 10_007).mapToDouble(i -> -i).toArray()));
    assertThat(metric("lifeline_summarise_scattered_values_total")).isEqualTo(7);
  }

  @Test
  void goesOnFromItsStateAsIfNothingHadHappened() {
    accept(1, 1, 1, reads(1, 1, 1));
    punctuate(2);
    job.save();
    job = new SummariseJob(settings, reopened(), metrics);
    accept(1, 2, 11, reads(1, 2, 2, 11));
    punctuate(11);
    assertThat(onlyOne().value()).contains("\"count\":2,");
    job.save();
    job = new SummariseJob(settings, reopened(), metrics);
    punctuate(12);
    assertThat(output.take()).as("what was published is known to be").isEmpty();
  }

  @Test
  void keepsAsManySummariesAsThereAreKeys() {
    settings =
        settings(Map.of("summarise.fields", "host.load:load,disk.*:id", "summarise.by", "type,host,program,level"));
    job = new SummariseJob(settings, state, metrics);
    accept(1, 1, 1, reads(1, 1, 1).host("a, \"b\"=\n").event(LOAD, tick(1), Double.NaN).finalBatch(true));
    punctuate(40);
    List<Sent> summaries = output.take();
    String rest = "host=a%2C%20%22b%22%3D%0A,program=copy,level=info";
    assertThat(summaries)
        .extracting(Sent::key)
        .containsExactlyInAnyOrder(
            "summarise:1700000000000000000:field=id,unit=,type=disk.read.end," + rest,
            "summarise:1700000000000000000:field=load,unit=,type=host.load," + rest);
    assertThat(summaries).anySatisfy(sent -> assertThat(sent.value())
        .contains("\"host\":\"a, \\\"b\\\"=\\n\"", "\"count\":0,\"nan\":1,", "\"mean\":null"));
  }

  private static SummariseSettings settings(Map<String, String> overrides) {
    return SummariseSettings.of(JobConfig.load(null, Map.of(), new HashMap<>(overrides)));
  }

  /** Returns a batch with one read of 100 bytes at each given second after the start. */
  private static BatchWriter reads(int emitter, long sequence, double... seconds) {
    BatchWriter batch = batch(emitter, sequence);
    for (double second : seconds) {
      batch.event(READ, tick(second), 1L, 100L);
    }
    return batch;
  }

  private void accept(int emitter, long sequence, double brokerSeconds, BatchWriter batch) {
    job.accept(read(batch), at(10L * emitter + sequence, brokerSeconds), output);
  }

  private void punctuate(double seconds) {
    job.punctuate(START_MS + (long) (seconds * 1000), output);
  }

  private boolean isDue(double seconds) {
    return job.isDue(START_MS + (long) (seconds * 1000));
  }

  private Sent onlyOne() {
    List<Sent> sent = output.take();
    assertThat(sent).hasSize(1);
    return sent.get(0);
  }

  private long metric(String name) {
    return metrics.counter(name, "").value();
  }

  private MemoryState reopened() {
    StateWriter out = new StateWriter();
    state.encode(out);
    state = MemoryState.decode(new StateReader(out.toBytes()));
    return state;
  }
}
