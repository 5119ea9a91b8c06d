package io.lifeline.jobs.core.summarise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.StateReader.NewerStateException;
import io.lifeline.jobs.core.config.JobConfig;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The two stages of summarise for emitters in groups. */
class ShareTest {

  private static final EventType READ = EventType.named("disk.read.end").field("nbytes", FieldType.U64, "B").build();
  private static final long START_S = 1_700_000_000;
  private static final long NS_PER_S = 1_000_000_000;
  private static final String LIFE = "first";

  private final SummariseSettings settings =
      SummariseSettings.of(JobConfig.load(null, Map.of(), Map.of("broker.url", "nats://127.0.0.1:1")));
  private final Metrics metrics = new Metrics();
  private final List<byte[]> shares = new ArrayList<>();
  private final List<String> summaries = new ArrayList<>();
  private final MemoryState mergerState = new MemoryState();
  /** The group with little input; {@link #slow} has a backlog in the tests where that matters. */
  private final ShareJob quick = job(0, new MemoryState());

  private final ShareJob slow = job(1, new MemoryState());
  private long nanoTime;

  private ShareJob job(int group, MemoryState state) {
    return new ShareJob(settings, LIFE, 2, group, state, metrics);
  }

  private ShareMerger merger() {
    return new ShareMerger(settings, LIFE, 2, mergerState, () -> nanoTime, metrics);
  }

  private void accept(ShareJob job, long emitter, boolean isFinal, long... nbytes) throws RejectedBatchException {
    acceptAt(0, 0, job, emitter, isFinal, nbytes);
  }

  /** Accepts events of a time, received by the broker at another time, in seconds after the start. */
  private void acceptAt(long eventS, long brokerS, ShareJob job, long emitter, boolean isFinal, long... nbytes)
      throws RejectedBatchException {
    long timeNs = (START_S + eventS) * NS_PER_S;
    BatchWriter writer =
        new BatchWriter()
            .incarnation(new Incarnation(0, emitter))
            .ticks(timeNs, NS_PER_S, true)
            .finalBatch(isFinal);
    for (long value : nbytes) {
      writer.event(READ, timeNs, value);
    }
    byte[] batch = writer.toByteArray();
    job.accept(
        new BatchReader().read(batch, 0, batch.length), new Position(0, 1, (START_S + brokerS) * 1000), null);
  }

  private void punctuate(ShareJob job) {
    job.punctuate(START_S * 1000, (to, key, id, value) -> shares.add(value));
  }

  @Test
  void isDueInEachStageWhenAnEmitterHasPassedTheEndOfAWindow() throws RejectedBatchException {
    ShareMerger merger = merger();
    acceptAt(1, 1, quick, 1, false, 5);
    assertThat(quick.isDue(0)).isFalse();
    punctuate(quick);
    merge(merger);
    assertThat(merger.isDue()).isFalse();
    acceptAt(11, 11, quick, 1, false, 6);
    assertThat(quick.isDue(0)).isTrue();
    punctuate(quick);
    assertThat(quick.isDue(0)).as("the share is sent").isFalse();
    shares.forEach(merger::accept);
    assertThat(merger.isDue()).isTrue();
    punctuate(merger);
    assertThat(merger.isDue()).isFalse();
    assertThat(summaries).hasSize(1);
  }

  /** Otherwise a group of thousands of emitters, whose clocks differ, would write checkpoints all the time. */
  @Test
  void isDueOnceForEachWindowWhenTheLastEmitterHasPassedItsEnd() throws RejectedBatchException {
    for (int emitter = 1; emitter <= 4; emitter++) {
      acceptAt(1, 1, quick, emitter, false, 5);
    }
    acceptAt(11, 11, quick, 1, false, 6);
    acceptAt(21, 21, quick, 2, false, 6);
    acceptAt(12, 22, quick, 3, false, 6);
    assertThat(quick.isDue(0)).as("emitter 4 may still send").isFalse();
    acceptAt(2, 22, quick, 4, true, 6);
    assertThat(quick.isDue(0)).as("it has ended").isTrue();
    punctuate(quick);
    assertThat(quick.isDue(0)).isFalse();
    acceptAt(22, 22, quick, 1, false, 6);
    assertThat(quick.isDue(0)).isFalse();
    acceptAt(22, 22, quick, 3, false, 6);
    assertThat(quick.isDue(0)).isTrue();
  }

  private void merge(ShareMerger merger) {
    shares.forEach(merger::accept);
    punctuate(merger);
  }

  @Test
  void sharesOfTwoGroupsBecomeOneSummary() throws Exception {
    accept(quick, 1, true, 100, 300);
    accept(slow, 2, true, 200);
    punctuate(quick);
    punctuate(slow);
    ShareMerger merger = merger();
    merge(merger);
    assertThat(summaries).as("the window has not passed").isEmpty();
    mergeLater(merger);
    assertThat(summaries).singleElement().asString().contains("\"count\":3", "\"sum\":600", "\"max\":300");
  }

  /** Merges a minute later, when emitters without a final batch are idle. */
  private void mergeLater(ShareMerger merger) {
    shares.forEach(merger::accept);
    nanoTime += 60 * NS_PER_S;
    punctuate(merger);
  }

  private void punctuate(ShareMerger merger) {
    merger.punctuate((to, key, id, value) -> summaries.add(new String(value, StandardCharsets.UTF_8)));
  }

  @Test
  void aRepeatedShareCountsOnceAlsoAfterARestartAndInAnyOrder() throws Exception {
    MemoryState state = new MemoryState();
    ShareJob job = job(0, state);
    accept(job, 1, false, 100);
    punctuate(job);
    accept(job, 1, true, 300);
    punctuate(job);
    Collections.reverse(shares);
    ShareMerger merger = merger();
    shares.forEach(merger::accept);
    merger.save();
    mergeLater(merger());
    assertThat(summaries).singleElement().asString().contains("\"count\":2", "\"sum\":400");
    assertThat(metrics.text()).contains("lifeline_summarise_repeated_shares_total 2");
  }

  /** Earlier releases stored the numbers without a version. */
  @Test
  void numbersAreReadWithAndWithoutAVersion() throws Exception {
    String key = "summarise/seen/0";
    mergerState.put(key, new byte[] {1, 1, 0});
    accept(quick, 1, true, 100);
    punctuate(quick);
    accept(quick, 2, true, 300);
    punctuate(quick);
    for (int repeated = 1; repeated <= 3; repeated += 2) {
      ShareMerger merger = merger();
      shares.forEach(merger::accept);
      merger.save();
      assertThat(mergerState.get(key)).containsExactly(0, 1, 1, 1, 1);
      assertThat(metrics.text()).contains("lifeline_summarise_repeated_shares_total " + repeated + "\n");
    }
    mergerState.put(key, new byte[] {0, 99});
    assertThatThrownBy(this::merger).isInstanceOf(NewerStateException.class);
  }

  @Test
  void whatWasNotSentIsInTheSavedState() throws Exception {
    MemoryState state = new MemoryState();
    ShareJob job = job(0, state);
    accept(job, 1, false, 100);
    punctuate(job);
    accept(job, 1, true, 300, 500);
    job.save();
    punctuate(job(0, state));
    assertThat(shares).hasSize(2);
    assertThat(Share.fromBytes(shares.get(1)).number()).isEqualTo(2);
    mergeLater(merger());
    assertThat(summaries).singleElement().asString().contains("\"count\":3", "\"sum\":900");
  }

  @Test
  void aShareThatIsMissingShowsAsLongAsLaterOnesAreThere() throws Exception {
    ShareJob job = job(0, new MemoryState());
    for (int i = 0; i < 3; i++) {
      accept(job, 1, false, 100);
      punctuate(job);
    }
    byte[] second = shares.remove(1);
    ShareMerger merger = merger();
    shares.forEach(merger::accept);
    assertThat(metrics.text()).contains("lifeline_summarise_missing_shares 1");
    merger.accept(second);
    assertThat(metrics.text()).contains("lifeline_summarise_missing_shares 0");
  }

  @Test
  void sharesOfAnotherDivisionIntoGroupsAreLeftAlone() throws Exception {
    ShareJob other = new ShareJob(settings, LIFE, 4, 0, new MemoryState(), metrics);
    accept(other, 1, true, 100);
    punctuate(other);
    ShareJob own = job(0, new MemoryState());
    accept(own, 2, true, 7);
    punctuate(own);
    mergeLater(merger());
    assertThat(summaries).singleElement().asString().contains("\"count\":1", "\"sum\":7");
  }

  /** The checkpoints of both stages were removed: numbers start anew, and the old shares are still in the stream. */
  @Test
  void whenAllStartsOverEachValueCountsOnce() throws Exception {
    for (String life : List.of(LIFE, "second")) {
      ShareJob job = new ShareJob(settings, life, 2, 0, new MemoryState(), metrics);
      accept(job, 1, true, 100, 300);
      punctuate(job);
    }
    ShareMerger merger = new ShareMerger(settings, "second", 2, new MemoryState(), () -> nanoTime, metrics);
    mergeLater(merger);
    assertThat(summaries).singleElement().asString().contains("\"count\":2", "\"sum\":400");
    assertThat(metrics.text()).contains("lifeline_summarise_repeated_shares_total 0");
  }

  /** A group with little input is at the present while another has a backlog of hours. */
  @Test
  void noGroupMakesAnothersBacklogLate() throws Exception {
    ShareMerger merger = merger();
    acceptAt(0, 0, slow, 2, false, 100);
    mergeSeconds(slow, merger);
    acceptAt(20_000, 20_000, quick, 1, false, 1);
    mergeSeconds(quick, merger);
    for (long second = 0; second < 20_000; second += 1000) {
      boolean isFinal = second == 10_000;
      int emitter = second <= 10_000 ? 2 : 3;
      acceptAt(second, second, slow, emitter, false, 100);
      mergeSeconds(slow, merger);
      acceptAt(second + 1, second + 1, slow, emitter, isFinal, 100);
      mergeSeconds(slow, merger);
    }
    acceptAt(20_050, 20_050, quick, 1, false, 1);
    acceptAt(20_050, 20_050, slow, 3, false, 100);
    mergeSeconds(quick, merger);
    mergeSeconds(slow, merger);
    assertThat(summaries).as("each window once").hasSize(21);
    assertThat(metrics.text()).contains("lifeline_summarise_late_values_total 0\n");
    assertThat(openWindows(merger)).as("those of the last hour").hasSize(5);
  }

  @Test
  void aGroupIsWaitedForOfWhichNothingWasEverHeard() throws Exception {
    ShareMerger merger = merger();
    acceptAt(20_000, 20_000, quick, 1, false, 1);
    mergeSeconds(quick, merger);
    acceptAt(0, 0, slow, 2, false, 100);
    mergeSeconds(slow, merger);
    assertThat(metrics.text()).contains("lifeline_summarise_late_values_total 0\n");
    assertThat(openWindows(merger)).hasSize(2);
  }

  /** Merges a group's shares one second later. */
  private void mergeSeconds(ShareJob job, ShareMerger merger) {
    nanoTime += NS_PER_S;
    punctuate(job);
    merge(merger);
    shares.clear();
  }

  private List<String> openWindows(ShareMerger merger) {
    merger.save();
    List<String> open = new ArrayList<>();
    mergerState.scan("summarise/window/", (key, value) -> open.add(key));
    return open;
  }

  /** All emitters of a group may have ended before the first share of another group, whose owner was killed. */
  @Test
  void oldEventsAreNotLateBecauseAllOthersHaveEnded() throws Exception {
    long yearsS = 100_000_000;
    ShareMerger merger = merger();
    acceptAt(0, yearsS, quick, 1, true, 100);
    mergeSeconds(quick, merger);
    assertThat(summaries).singleElement().asString().contains("\"revision\":1", "\"count\":1");
    nanoTime += 1000 * NS_PER_S;
    punctuate(merger);
    acceptAt(0, yearsS + 1, slow, 2, true, 200);
    mergeSeconds(slow, merger);
    assertThat(summaries).hasSize(2).last().asString().contains("\"revision\":2", "\"count\":2");
    nanoTime += 3700 * NS_PER_S;
    punctuate(merger);
    acceptAt(0, yearsS + 4000, slow, 3, true, 300);
    mergeSeconds(slow, merger);
    assertThat(summaries).as("an hour later it is late").hasSize(2);
    assertThat(metrics.text()).contains("lifeline_summarise_late_values_total 1\n");
  }

  /** A group without input sends no shares, and must not keep the others' windows open forever. */
  @Test
  void aGroupThatHasNothingToReadHoldsNothingBack() throws Exception {
    ShareMerger merger = merger();
    acceptAt(0, 0, quick, 1, true, 1);
    mergeSeconds(quick, merger);
    for (long second = 20_000; second < 30_000; second += 100) {
      acceptAt(second, second, slow, 2, false, 100);
      mergeSeconds(slow, merger);
    }
    assertThat(summaries).as("all but the one of which more may come").hasSize(100);
    assertThat(openWindows(merger)).as("those of the last hour").hasSize(3600 / 100 + 1);
  }

  @Test
  void afterARestartNobodyWaitsForAGroupThatWasQuietBefore() throws Exception {
    ShareMerger merger = merger();
    acceptAt(0, 0, quick, 1, true, 1);
    mergeSeconds(quick, merger);
    merger.save();
    merger = merger();
    acceptAt(20_000, 20_000, slow, 2, false, 100);
    acceptAt(20_010, 20_010, slow, 2, false, 100);
    mergeSeconds(slow, merger);
    assertThat(summaries).as("the quick group's and the first of the slow one's").hasSize(2);
  }

  @Test
  void moreWindowsThanAllowedAreCountedAndLeftOutBeforeTheyAreSent() throws Exception {
    SummariseSettings few =
        SummariseSettings.of(
            JobConfig.load(
                null, Map.of(), Map.of("broker.url", "nats://127.0.0.1:1", "summarise.max.windows", "2")));
    ShareJob job = new ShareJob(few, LIFE, 2, 0, new MemoryState(), metrics);
    BatchWriter writer =
        new BatchWriter().incarnation(new Incarnation(0, 1)).ticks(START_S * NS_PER_S, NS_PER_S, true);
    for (int i = 0; i < 5; i++) {
      writer.event(READ, (START_S + 10 * i) * NS_PER_S, 1L).event(READ, (START_S + 10 * i) * NS_PER_S, 1L);
    }
    byte[] batch = writer.toByteArray();
    job.accept(new BatchReader().read(batch, 0, batch.length), new Position(0, 1, START_S * 1000), null);
    punctuate(job);
    assertThat(Share.fromBytes(shares.get(0)).entries()).hasSize(2);
    assertThat(metrics.text()).contains("lifeline_summarise_overflow_values_total 6\n");
    accept(job, 1, false, 100);
    punctuate(job);
    assertThat(Share.fromBytes(shares.get(1)).entries()).as("what was sent makes room").hasSize(1);
  }
}
