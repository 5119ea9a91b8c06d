package io.lifeline.jobs.core.filter;

import static io.lifeline.jobs.core.TestBatches.READ;
import static io.lifeline.jobs.core.TestBatches.at;
import static io.lifeline.jobs.core.TestBatches.batch;
import static io.lifeline.jobs.core.TestBatches.emitter;
import static io.lifeline.jobs.core.TestBatches.read;
import static io.lifeline.jobs.core.TestBatches.tick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Recorder;
import io.lifeline.jobs.core.Recorder.Sent;
import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.JobConfig;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class FilterJobTest {

  private final Recorder output = new Recorder();
  private final MemoryState state = new MemoryState();
  private final Metrics metrics = new Metrics();
  private FilterJob job = job("filter.large", "nbytes >= 100");

  @Test
  void aDerivedBatchIsAnEmittersOfItsOwnAndNamesItsParent() throws Exception {
    accept(1, 0, false, 5, 100, 7, 200);
    Sent sent = output.take().get(0);
    BatchReader derived = parse(sent);
    assertThat(sent.to()).isEqualTo(Destination.derived("large"));
    assertThat(sent.to().topic("lifeline")).isEqualTo("lifeline.derived.large");
    assertThat(sent.key()).isEqualTo(derived.incarnation().toString()).isNotEqualTo(emitter(1).toString());
    assertThat(sent.id()).isEqualTo(derived.incarnation() + "-0-1");
    assertThat(derived.isDerived()).isTrue();
    assertThat(derived.routeName()).isEqualTo("large");
    assertThat(derived.header().parent().incarnation()).isEqualTo(emitter(1));
    assertThat(derived.header().parent().sequence()).isEqualTo(1);
    assertThat(derived.header().parent().eventsIn()).isEqualTo(4);
    assertThat(derived.header().parent().eventsOut()).isEqualTo(2);
    assertThat(values(derived)).containsExactly(100L, 200L);
    assertThat(List.of(derived.host(), derived.program(), derived.pid())).isEqualTo(List.of("host-a", "copy", 42L));
  }

  @Test
  void aStreamIsNotMadeOfItself() {
    String url = "kafka://host/lifeline.derived.large";
    assertThatThrownBy(() -> job("filter.small", "true", "filter.large", "true", "broker.url", url))
        .isInstanceOf(ConfigException.class)
        .hasMessage("filter.large would fill lifeline.derived.large, which is the input in broker.url");
  }

  /** Emitters may send any name, and must neither forge log lines nor fill the disk. */
  @Test
  void whatIsToldOfTypesIsALineEachAndNotWithoutEnd() {
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    PrintStream standardError = System.err;
    System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    try {
      BatchWriter forged = batch(1, 1);
      for (int i = 0; i < 150; i++) {
        forged.event(EventType.named("a\nERROR b" + i).field("nbytes", FieldType.STRING).build(), tick(0), "x");
      }
      job.accept(read(forged), at(1, 0), output);
    } finally {
      System.setErr(standardError);
    }
    assertThat(log.toString(StandardCharsets.UTF_8)).contains("some events a%0AERROR%20b0 cannot").hasLineCount(100);
    assertThat(metrics.text()).contains("lifeline_filter_undecided_total{stream=\"large\"} 150\n");
  }

  @Test
  void booksBalanceOverParentsOfWhichNothingWasTaken() throws Exception {
    accept(1, 0, false, 1, 2, 3);
    accept(2, 1, false, 4, 500);
    accept(3, 2, false, 6);
    accept(4, 3, true);
    List<Sent> sent = output.take();
    assertThat(sent).as("one with an event, and the last one").hasSize(2);
    BatchReader first = parse(sent.get(0));
    assertThat(first.header().parent().eventsIn()).isEqualTo(5);
    assertThat(List.of(first.counter(Counter.EMITTED), first.counter(Counter.BELOW_THRESHOLD))).containsExactly(1L, 4L);
    BatchReader last = parse(sent.get(1));
    assertThat(last.sequence()).isEqualTo(2);
    assertThat(last.isFinal()).isTrue();
    assertThat(last.eventCount()).isZero();
    assertThat(last.header().parent().eventsIn()).isEqualTo(1);
    assertThat(List.of(last.counter(Counter.EMITTED), last.counter(Counter.BELOW_THRESHOLD))).containsExactly(1L, 5L);
  }

  @Test
  void anEmitterOfWhichNothingIsTakenIsHeardOfNowAndThen() throws Exception {
    for (int second = 0; second < 30; second++) {
      accept(second + 1, second, false, 1);
    }
    List<Sent> sent = output.take();
    assertThat(sent).hasSize(2);
    assertThat(parse(sent.get(1)).counter(Counter.BELOW_THRESHOLD)).isEqualTo(21);
  }

  @Test
  void whatComesOutOfASpoolAfterTheLastBatchDoesNotBringTheEmitterBackToLife() throws Exception {
    accept(2, 0, true, 100);
    accept(1, 1, false, 300);
    assertThat(output.take()).hasSize(2).allSatisfy(sent -> assertThat(parse(sent).isFinal()).isTrue());
  }

  @Test
  void goesOnInTheSameBooksAfterARestartAndRepeatsToTheByte() throws Exception {
    accept(1, 0, false, 100);
    job.save();
    accept(2, 1, false, 5, 200);
    byte[] before = output.take().get(1).bytes();
    job = job("filter.large", "nbytes >= 100");
    accept(2, 1, false, 5, 200);
    assertThat(output.take().get(0).bytes()).isEqualTo(before);
    assertThat(parse(before).sequence()).isEqualTo(2);
    assertThat(parse(before).counter(Counter.EMITTED)).isEqualTo(2);
  }

  @Test
  void severalStreamsAreFilledFromOneReadingAndDoNotShareIdentities() throws Exception {
    job = job("filter.large", "nbytes >= 100", "filter.small", "nbytes < 100");
    accept(1, 0, false, 1, 100, 2);
    List<Sent> sent = output.take();
    assertThat(sent).extracting(s -> s.to().name()).containsExactly("large", "small");
    assertThat(sent).extracting(Sent::key).doesNotHaveDuplicates();
    assertThat(values(parse(sent.get(1)))).containsExactly(1L, 2L);
    assertThat(metrics.text())
        .contains(
            "lifeline_derived_in_total{stream=\"small\"} 3\n",
            "lifeline_derived_out_total{stream=\"small\"} 2\n",
            "lifeline_derived_out_total{stream=\"large\"} 1\n");
  }

  @Test
  void aBatchThatFillsItsMessageToTheBrimBecomesTwo() throws Exception {
    EventType blob = EventType.named("blob").field("nbytes", FieldType.U64).field("data", FieldType.BYTES).build();
    BatchWriter parent = new BatchWriter().incarnation(emitter(1));
    byte[] data = new byte[31_000];
    new Random(1).nextBytes(data);
    for (int i = 0; i < 30; i++) {
      parent.event(blob, tick(i), 100L, data);
    }
    int room = BatchReader.MAX_BATCH_BYTES - parent.toByteArray().length;
    parent.event(blob, tick(30), 100L, Arrays.copyOf(data, room - 32));
    job.accept(read(parent), at(1, 1), output);
    List<Sent> sent = output.take();
    assertThat(sent).hasSize(2);
    assertThat(parse(sent.get(0)).eventCount()).isEqualTo(15);
    assertThat(parse(sent.get(0)).header().parent().eventsIn()).isEqualTo(31);
    BatchReader second = parse(sent.get(1));
    assertThat(second.eventCount()).isEqualTo(16);
    assertThat(second.header().parent().eventsIn()).isZero();
    assertThat(second.counter(Counter.EMITTED)).isEqualTo(31);
  }

  @Test
  void aConditionThatIsNoneIsToldWithItsName() {
    assertThatThrownBy(() -> job("filter.large", "nbytes >"))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("filter.large=nbytes >: line 1, column ");
    assertThatThrownBy(() -> job())
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("the job filter needs a condition: set filter.NAME, such as ");
  }

  private FilterJob job(String... settings) {
    Map<String, String> map = new TreeMap<>();
    for (int i = 0; i < settings.length; i += 2) {
      map.put(settings[i], settings[i + 1]);
    }
    return new FilterJob(FilterSettings.of(JobConfig.load(null, Map.of(), map)), state, metrics);
  }

  /** A batch of emitter 1 with one {@link io.lifeline.jobs.core.TestBatches#READ} per number of bytes. */
  private void accept(long sequence, double second, boolean isFinal, long... nbytes) {
    BatchWriter batch = batch(1, sequence).finalBatch(isFinal);
    for (long n : nbytes) {
      batch.event(READ, tick(second), n, n);
    }
    job.accept(read(batch), at(sequence, second), output);
  }

  private static BatchReader parse(Sent sent) throws Exception {
    return parse(sent.bytes());
  }

  private static BatchReader parse(byte[] batch) throws Exception {
    return new BatchReader().read(batch, 0, batch.length);
  }

  private static List<Long> values(BatchReader batch) {
    List<Long> values = new ArrayList<>();
    while (batch.next()) {
      values.add(batch.getLong(1));
    }
    return values;
  }
}
