package io.lifeline.jobs.core.pair;

import static io.lifeline.jobs.core.TestBatches.START_MS;
import static io.lifeline.jobs.core.TestBatches.at;
import static io.lifeline.jobs.core.TestBatches.batch;
import static io.lifeline.jobs.core.TestBatches.read;
import static io.lifeline.jobs.core.TestBatches.tick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Level;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Recorder;
import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.JobConfig;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PairJobTest {

  private static final EventType START =
      EventType.named("disk.read.start").field("id", FieldType.U64).field("offset", FieldType.U64, "B").build();
  private static final EventType END =
      EventType.named("disk.read.end")
          .level(Level.DEBUG)
          .field("nbytes", FieldType.U64, "B")
          .field("id", FieldType.U64)
          .build();

  private final Recorder output = new Recorder();
  private final MemoryState state = new MemoryState();
  private final Metrics metrics = new Metrics();
  private PairJob job = job();

  @Test
  void aStartAndAnEndWithTheSameIdBecomeADuration() {
    accept(1, 0, batch(1, 1).event(START, tick(1), 7L, 0L).thread(9).event(END, tick(3.5), 100L, 7L));
    assertThat(metrics.text()).contains("lifeline_derived_out_total{stream=\"durations\"} 1\n");
    BatchReader derived = derived();
    assertThat(derived.routeName()).isEqualTo("durations");
    assertThat(derived.counter(Counter.EMITTED)).isEqualTo(1);
    assertThat(derived.counter(Counter.FOLDED)).isEqualTo(2);
    assertThat(derived.header().parent().eventsIn()).isEqualTo(2);
    assertThat(derived.next()).isTrue();
    assertThat(derived.type().name()).isEqualTo("disk.read.duration");
    assertThat(derived.type().level()).isEqualTo(Level.DEBUG);
    assertThat(derived.type().fields()).hasToString("[u64 id, i64 duration [ns]]");
    assertThat(derived.getLong(0)).isEqualTo(7);
    assertThat(derived.getLong(1)).isEqualTo(2_500_000_000L);
    assertThat(derived.timeNs()).isEqualTo(START_MS * 1_000_000 + 3_500_000_000L);
    assertThat(derived.thread()).isEqualTo(9);
    assertThat(derived.host()).isEqualTo("host-a");
  }

  @Test
  void halvesOfAPairMayComeInBatchesOfTheirOwnInAnyOrderAndBeforeARestart() {
    accept(1, 0, batch(1, 2).event(END, tick(3), 1L, 7L).event(START, tick(4), 8L, 0L));
    job.save();
    job = job();
    accept(2, 1, batch(1, 1).event(START, tick(1), 7L, 0L));
    accept(3, 2, batch(1, 3).event(END, tick(4.25), 1L, 8L));
    assertThat(durations()).containsExactly("disk.read.duration 7 2000000000", "disk.read.duration 8 250000000");
  }

  @Test
  void emittersOperationsAndIdsAreKeptApart() {
    EventType write = EventType.named("disk.write.end").field("id", FieldType.U64).build();
    accept(1, 0, batch(1, 1).event(START, tick(1), 7L, 0L));
    accept(2, 0, batch(2, 1).event(END, tick(2), 1L, 7L));
    accept(3, 0, batch(1, 2).type(3, write).event(write, tick(2), 7L).event(END, tick(2), 1L, 6L));
    assertThat(durations()).isEmpty();
  }

  @Test
  void aHalfThatWaitsTooLongOrInVainIsCountedAndGivenUp() {
    accept(1, 0, batch(1, 1).event(START, tick(0), 1L, 0L).event(START, tick(0), 2L, 0L).event(START, tick(1), 2L, 0L));
    accept(2, 3700, batch(1, 2).event(END, tick(3700), 1L, 1L));
    assertThat(durations()).as("an hour is the limit").isEmpty();
    assertThat(metrics.text()).contains("lifeline_pair_unpaired_total 3\n");
    accept(3, 3 * 3700, batch(2, 1).event(START, tick(0), 1L, 0L));
    assertThat(metrics.text()).contains("lifeline_pair_unpaired_total 4\n");
    job.save();
    assertThat(waiting()).as("the first emitter is forgotten").isEqualTo(1);
  }

  /** Time passes while a job is blocked, and batches that arrive meanwhile are read later. */
  @Test
  void whatIsForgottenDependsOnTheStreamAndNotOnWhenItIsRead() {
    accept(1, 0, batch(1, 1).event(START, tick(0), 1L, 0L));
    job.punctuate(START_MS + 7_200_000, output);
    job.save();
    job = job();
    accept(2, 3599, batch(1, 2).event(END, tick(3599), 1L, 1L));
    assertThat(durations()).containsExactly("disk.read.duration 1 3599000000000");
  }

  @Test
  void emittersAreForgottenAfterARestartAsBefore() {
    accept(1, 0, batch(1, 1).event(START, tick(0), 1L, 0L));
    accept(2, 1, batch(2, 1).event(START, tick(0), 1L, 0L));
    accept(3, 2, batch(1, 2).event(START, tick(0), 2L, 0L));
    job.save();
    job = job();
    accept(4, 3601.5, batch(3, 1).event(START, tick(0), 1L, 0L));
    job.save();
    assertThat(waiting()).as("the second emitter is forgotten").isEqualTo(2);
  }

  @Test
  void underOtherSettingsADerivedRouteBeginsAnew() {
    accept(1, 0, batch(1, 1).event(START, tick(0), 1L, 0L).event(END, tick(1), 1L, 1L));
    BatchReader before = derived();
    job.save();
    job = job("pair.timeout", "2h");
    accept(2, 1, batch(1, 2).event(START, tick(2), 2L, 0L).event(END, tick(3), 1L, 2L));
    assertThat(derived().incarnation()).isNotEqualTo(before.incarnation());
    assertThat(derived().sequence()).isEqualTo(1);
  }

  @Test
  void theOldestAreGivenUpWhenTooManyWait() {
    job = job("pair.max.open", "2");
    BatchWriter starts = batch(1, 1);
    BatchWriter ends = batch(1, 2);
    for (long id = 0; id < 5; id++) {
      starts.event(START, tick(0), id, 0L);
      ends.event(END, tick(1), 1L, id);
    }
    accept(1, 0, starts);
    accept(2, 1, ends);
    assertThat(durations()).containsExactly("disk.read.duration 3 1000000000", "disk.read.duration 4 1000000000");
  }

  @Test
  void pairsAreFoundByAnyFieldsAndTypesWithoutThemAreLeftAlone() {
    job = job("pair.by", "file,duration");
    EventType start =
        EventType.named("copy.start").field("duration", FieldType.I32).field("file", FieldType.STRING).build();
    EventType end =
        EventType.named("copy.end").field("file", FieldType.STRING).field("duration", FieldType.I32).build();
    accept(
        1,
        0,
        batch(1, 1)
            .event(START, tick(0), 1L, 1L)
            .event(start, tick(0), 1, "a")
            .event(start, tick(0), 2, "a")
            .event(end, tick(1), "a", 2));
    BatchReader derived = derived();
    assertThat(derived.next()).isTrue();
    assertThat(derived.type().fields()).hasToString("[string file, i32 duration, i64 duration_ [ns]]");
    assertThat(derived.getString(0)).isEqualTo("a");
    assertThat(derived.getLong(1)).isEqualTo(2);
    assertThat(derived.next()).isFalse();
  }

  @Test
  void aTextThatIsNoTextOrTooLongForAnEventDoesNotStopTheJob() {
    job = job("pair.by", "file");
    EventType start = EventType.named("copy.start").field("file", FieldType.STRING).build();
    EventType end = EventType.named("copy.end").field("file", FieldType.STRING).build();
    byte[] broken = new byte[8000];
    Arrays.fill(broken, (byte) 0xff);
    byte[] tooLong = new byte[8001];
    BatchWriter batch = batch(1, 1);
    for (byte[] file : List.of(broken, tooLong)) {
      batch.event(start, tick(0), (Object) file).event(end, tick(1), (Object) file);
    }
    accept(1, 0, batch);
    assertThat(derived().eventCount()).isEqualTo(1);
  }

  /** Kafka's clients send at most a megabyte per message, and state that cannot be saved stops the job permanently. */
  @Test
  void whatWaitsIsBoundedInBytesToo() {
    job = job("pair.by", "file");
    EventType start = EventType.named("copy.start").field("file", FieldType.STRING).build();
    EventType end = EventType.named("copy.end").field("file", FieldType.STRING).build();
    for (int sequence = 1; sequence <= 4; sequence++) {
      BatchWriter batch = batch(1, sequence);
      for (int i = 0; i < 100; i++) {
        batch.event(start, tick(0), (sequence + "-" + i + "-").repeat(1000));
      }
      accept(sequence, 0, batch);
      job.save();
    }
    state.scan("pair/", (key, value) -> assertThat(value.length).isLessThan(900_000));
    job = job("pair.by", "file");
    accept(5, 1, batch(1, 5).event(end, tick(1), "1-0-".repeat(1000)).event(end, tick(1), "4-99-".repeat(1000)));
    assertThat(derived().eventCount()).as("the newest wait on").isEqualTo(1);
  }

  /** As after a clock step: the ticks of one batch cannot be that far apart. */
  @Test
  void pairsThatEndedDaysApartKeepTheirTimes() {
    accept(1, 0, batch(1, 1).event(END, tick(1), 1L, 2L));
    BatchWriter later = batch(1, 2).ticks(tick(200_000), 1_000_000_000, true);
    later.event(START, tick(200_000), 2L, 0L).event(START, tick(200_000), 3L, 0L).event(END, tick(200_001), 1L, 3L);
    accept(2, 1, later);
    List<Long> times = new ArrayList<>();
    for (Recorder.Sent sent : output.messages()) {
      BatchReader batch = parse(sent.bytes());
      while (batch.next()) {
        times.add(batch.timeNs());
      }
    }
    assertThat(times).containsExactly(tick(1), tick(200_001));
  }

  @Test
  void aStreamHasOneSource() {
    assertThatThrownBy(() -> job("pair.to", "large", "filter.large", "true"))
        .isInstanceOf(ConfigException.class)
        .hasMessage("pair.to=large: filter.large fills that stream already");
  }

  @Test
  void aStreamIsNotMadeOfItself() {
    String url = "nats://host/lifeline.derived.durations?stream=LIFELINE_OUT";
    assertThatThrownBy(() -> job("broker.url", url))
        .isInstanceOf(ConfigException.class)
        .hasMessage(
            "pair.to=durations would fill lifeline.derived.durations, which is the input in broker.url");
    assertThat(job("broker.url", url, "pair.to", "others").name()).isEqualTo("pair");
  }

  private PairJob job(String... settings) {
    Map<String, String> map = new HashMap<>();
    for (int i = 0; i < settings.length; i += 2) {
      map.put(settings[i], settings[i + 1]);
    }
    return new PairJob(PairSettings.of(JobConfig.load(null, Map.of(), map)), state, metrics);
  }

  private void accept(long offset, double second, BatchWriter batch) {
    job.accept(read(batch), at(offset, second), output);
  }

  /** Returns the number of emitters with waiting halves in the saved state. */
  private int waiting() {
    List<String> keys = new ArrayList<>();
    state.scan("pair/", (key, value) -> keys.add(key));
    return keys.size();
  }

  /** The newest batch. */
  private BatchReader derived() {
    return parse(output.messages().get(output.messages().size() - 1).bytes());
  }

  private List<String> durations() {
    List<String> durations = new ArrayList<>();
    for (Recorder.Sent sent : output.messages()) {
      BatchReader batch = parse(sent.bytes());
      while (batch.next()) {
        durations.add(batch.type().name() + " " + batch.getLong(0) + " " + batch.getLong(1));
      }
    }
    return durations;
  }

  private static BatchReader parse(byte[] bytes) {
    try {
      return new BatchReader().read(bytes, 0, bytes.length);
    } catch (RejectedBatchException e) {
      throw new AssertionError(e);
    }
  }
}
