package io.lifeline.jobs.core.summarise;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.config.JobConfig;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The two halves of summarise where emitters are worked on in groups. */
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

  private ShareJob job(int group, MemoryState state) {
    return new ShareJob(settings, LIFE, 2, group, state, metrics);
  }

  private ShareMerger merger() {
    return new ShareMerger(settings, LIFE, 2, mergerState, metrics);
  }

  private void accept(ShareJob job, long emitter, boolean isFinal, long... nbytes) throws RejectedBatchException {
    BatchWriter writer =
        new BatchWriter()
            .incarnation(new Incarnation(0, emitter))
            .ticks(START_S * NS_PER_S, NS_PER_S, true)
            .finalBatch(isFinal);
    for (long value : nbytes) {
      writer.event(READ, START_S * NS_PER_S, value);
    }
    byte[] batch = writer.toByteArray();
    job.accept(new BatchReader().read(batch, 0, batch.length), new Position(0, 1, START_S * 1000), null);
  }

  private void punctuate(ShareJob job) {
    job.punctuate(START_S * 1000, (to, key, id, value) -> shares.add(value));
  }

  private void merge(ShareMerger merger) {
    shares.forEach(merger::accept);
    merger.punctuate((to, key, id, value) -> summaries.add(new String(value, StandardCharsets.UTF_8)));
  }

  @Test
  void sharesOfTwoGroupsBecomeOneSummary() throws Exception {
    ShareJob first = job(0, new MemoryState());
    ShareJob second = job(1, new MemoryState());
    accept(first, 1, true, 100, 300);
    accept(second, 2, true, 200);
    punctuate(first);
    punctuate(second);
    merge(merger());
    assertThat(summaries).isEmpty();
    mergeLater(merger());
    assertThat(summaries).singleElement().asString().contains("\"count\":3", "\"sum\":600", "\"max\":300");
  }

  private void mergeLater(ShareMerger merger) throws Exception {
    shares.add(shareOfTheOtherGroup(LIFE));
    merge(merger);
  }

  /** A minute on, whoever has not said his last word is idle, so that the watermark is the present. */
  private byte[] shareOfTheOtherGroup(String life) throws Exception {
    ShareJob late = new ShareJob(settings, life, 2, 1, new MemoryState(), metrics);
    List<byte[]> sent = new ArrayList<>();
    byte[] batch =
        new BatchWriter()
            .incarnation(new Incarnation(0, 3))
            .ticks((START_S + 60) * NS_PER_S, NS_PER_S, true)
            .finalBatch(true)
            .toByteArray();
    late.accept(new BatchReader().read(batch, 0, batch.length), new Position(0, 9, (START_S + 60) * 1000), null);
    late.punctuate(0, (to, key, id, value) -> sent.add(value));
    Share share = Share.fromBytes(sent.get(0));
    return new Share(life, 2, 1, 1000, share.entries(), share.progress()).toBytes();
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
    mergeLater(merger());
    assertThat(summaries).isEmpty();
  }

  /** Both halves' checkpoints were removed: numbers begin again, and the shares of before are still in the stream. */
  @Test
  void whenAllStartsOverEachValueCountsOnce() throws Exception {
    for (String life : List.of(LIFE, "second")) {
      ShareJob job = new ShareJob(settings, life, 2, 0, new MemoryState(), metrics);
      accept(job, 1, true, 100, 300);
      punctuate(job);
    }
    ShareMerger merger = new ShareMerger(settings, "second", 2, new MemoryState(), metrics);
    shares.forEach(merger::accept);
    merger.accept(shareOfTheOtherGroup("second"));
    merger.punctuate((to, key, id, value) -> summaries.add(new String(value, StandardCharsets.UTF_8)));
    assertThat(summaries).singleElement().asString().contains("\"count\":2", "\"sum\":400");
    assertThat(metrics.text()).contains("lifeline_summarise_repeated_shares_total 0");
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
