package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.bottleneck.BottleneckFactory;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.decode.DecodeFactory;
import io.lifeline.jobs.core.signing.Signatures;
import io.lifeline.jobs.core.summarise.SummariseFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The topology without a broker. */
class JobsTopologyTest {

  private static final long START_S = 1_700_000_000;
  private static final Instant START = Instant.ofEpochSecond(START_S);
  private static final Duration WINDOW = Duration.ofSeconds(10);

  @TempDir private Path stateDirectory;
  private final Metrics metrics = new Metrics();
  private long nowNs;
  private int sent;
  private final List<String> ensuredTopics = new ArrayList<>();
  private TopologyTestDriver driver;
  private TestInputTopic<String, byte[]> batches;

  @BeforeEach
  void start() {
    JobConfig config =
        JobConfig.load(
            null,
            Map.of(),
            Map.of("broker.url", "kafka://127.0.0.1:1", "summarise.fields", "*:nbytes", "decode.types", "disk.*"));
    TopologySettings settings =
        new TopologySettings(
            "decode+summarise",
            "lifeline.batches",
            new BatchPlaces(1, List.of(), Map.of()),
            "lifeline",
            Duration.ofDays(7),
            metrics,
            (topic, kind) -> {
              ensuredTopics.add(topic);
              return topic;
            },
            partition -> CompletableFuture.completedFuture(0L),
            () -> "topic",
            Signatures.of(List.of()),
            () -> nowNs);
    Properties properties = new KafkaSettings(config).streams(stateDirectory);
    driver =
        new TopologyTestDriver(
            JobsTopology.build(
                settings,
                List.of(
                    new DecodeFactory().plan(config, metrics),
                    new SummariseFactory().plan(config, metrics),
                    new BottleneckFactory().plan(config, metrics))),
            properties,
            START);
    batches =
        driver.createInputTopic(
            "lifeline.batches", new StringSerializer(), new ByteArraySerializer(), START, Duration.ZERO);
  }

  private void advance(Duration time) {
    nowNs += time.toNanos();
    driver.advanceWallClockTime(time);
  }

  @AfterEach
  void stop() {
    driver.close();
  }

  private TestOutputTopic<String, String> output(String topic) {
    return driver.createOutputTopic(topic, new StringDeserializer(), new StringDeserializer());
  }

  private void send(long emitter, byte[] batch) {
    batches.pipeInput(Batches.key(emitter), batch);
  }

  @Test
  void sharesOfSeveralEmittersBecomeOneSummary() {
    send(1, Batches.reads(1, 1, true, START_S, 100, 300));
    send(2, Batches.reads(2, 1, true, START_S, 200));
    advance(WINDOW.multipliedBy(2));

    List<String> summaries = output("lifeline.summaries").readValuesToList();
    assertThat(summaries).hasSize(1);
    assertThat(summaries.get(0))
        .contains("\"type\":\"disk.read.end\"", "\"field\":\"nbytes\"", "\"count\":3", "\"sum\":600", "\"max\":300");
  }

  @Test
  void aWindowStaysOpenUntilEveryEmitterHasPassedItsEnd() {
    send(1, Batches.reads(1, 1, false, START_S, 100));
    send(2, Batches.reads(2, 1, false, START_S, 200));
    send(1, Batches.reads(1, 2, false, START_S + 15, 100));
    advance(Duration.ofSeconds(1));
    assertThat(output("lifeline.summaries").isEmpty()).isTrue();

    send(2, Batches.reads(2, 2, false, START_S + 15, 200));
    advance(Duration.ofSeconds(1));
    assertThat(output("lifeline.summaries").readValuesToList()).singleElement().asString().contains("\"sum\":300");
  }

  @Test
  void aSummaryWaitsNoSecond() {
    send(1, Batches.reads(1, 1, false, START_S, 100));
    send(1, Batches.reads(1, 2, false, START_S + 15, 200));
    advance(Duration.ofMillis(100));
    assertThat(output("lifeline.summaries").readValuesToList()).singleElement().asString().contains("\"sum\":100");
  }

  @Test
  void samplesOfASenderAndAReceiverMeetAndBecomeOneAlert() {
    for (int second = 0; second < 40; second++) {
      send(1, Batches.operations(1, second + 1, START_S + second, "disk.read", 10));
      send(2, Batches.operations(2, 2 * second + 1, START_S + second, "disk.write", 60));
      send(2, Batches.operations(2, 2 * second + 2, START_S + second, "net.receive", 20));
    }
    advance(Duration.ofSeconds(4)); // all of them came at once, and may not be all of their time
    List<TestRecord<String, String>> alerts = output("lifeline.alerts").readRecordsToList();
    assertThat(alerts).hasSize(1);
    assertThat(alerts.get(0).key()).isEqualTo("bottleneck:program%3Dcopy:disk-write");
    assertThat(alerts.get(0).value()).contains("\"state\":\"on\"", "\"reason\":\"slowest\"");
    assertThat(new String(alerts.get(0).headers().lastHeader("lifeline-id").value(), StandardCharsets.UTF_8))
        .startsWith("bottleneck:program%3Dcopy:disk-write:17").endsWith(":on");

    advance(Duration.ofSeconds(62));
    assertThat(output("lifeline.alerts").readValue()).contains("\"state\":\"off\"", "\"reason\":\"silent\"");
  }

  @Test
  void aRepeatedBatchCountsOnce() {
    byte[] batch = Batches.reads(1, 1, true, START_S, 100);
    send(1, batch);
    send(1, batch);
    advance(WINDOW.multipliedBy(2));

    assertThat(output("lifeline.summaries").readValuesToList()).singleElement().asString().contains("\"count\":1");
    assertThat(output("lifeline.events.disk.read.end").readValuesToList()).hasSize(1);
    assertThat(metrics.text()).contains("lifeline_duplicates_total{task=\"decode+summarise-0\"} 1");
  }

  @Test
  void aCorruptBatchIsRejectedWithReasonAndPositionAndTheNextGoesOn() {
    byte[] corrupt = Batches.reads(1, 1, false, START_S, 100);
    corrupt[40] ^= 1;
    send(1, corrupt);
    send(1, null);
    send(1, Batches.reads(1, 1, false, START_S, 100));

    List<String> rejected = output("lifeline.rejected").readValuesToList();
    assertThat(rejected).hasSize(2);
    assertThat(rejected.get(0)).contains("\"code\":\"bad_crc\"", "\"partition\":0", "\"offset\":0");
    assertThat(rejected.get(1)).contains("\"code\":\"truncated\"", "\"offset\":1");
    assertThat(output("lifeline.events.disk.read.end").readValuesToList()).hasSize(1);
  }

  @Test
  void anotherBatchUnderTheSameSequenceIsAConflict() {
    send(1, Batches.reads(1, 1, false, START_S, 100));
    send(1, Batches.reads(1, 1, false, START_S, 101));

    assertThat(output("lifeline.rejected").readValuesToList())
        .singleElement()
        .asString()
        .contains("\"code\":\"conflict\"", "\"batch\":\"" + Batches.key(1) + "-0-1\"");
  }

  @Test
  void aDecodedEventCarriesItsIdAndTheTimeOfWritingAndItsTopicIsMadeFirst() {
    advance(Duration.ofHours(3));
    send(1, Batches.reads(1, 1, false, START_S, 100));

    TestRecord<String, String> event = output("lifeline.events.disk.read.end").readRecord();
    assertThat(event.key()).isEqualTo(Batches.key(1));
    assertThat(event.getRecordTime()).isEqualTo(START.plus(Duration.ofHours(3)));
    Header id = event.headers().lastHeader(IntakeProcessor.ID_HEADER);
    assertThat(new String(id.value())).isEqualTo(Batches.key(1) + "-0-1-0");
    assertThat(ensuredTopics).contains("lifeline.events.disk.read.end");
  }

  @Test
  void stateIsInTheStoreAfterEveryBatch() {
    send(1, Batches.reads(1, 1, false, START_S, 100));

    assertThat(driver.getKeyValueStore(IntakeProcessor.STORE).get("dedup/" + Batches.key(1) + "-0")).isNotNull();
    assertThat(driver.getKeyValueStore("lifeline-merge").approximateNumEntries()).isPositive();
  }

  @Test
  void checksumsOfOldBatchesAreOnDiskAndTellConflicts() {
    for (int sequence = 1; sequence <= 200; sequence++) {
      send(1, Batches.reads(1, sequence, false, START_S, 100));
    }
    assertThat(driver.getKeyValueStore(IntakeProcessor.CHECKSUMS).persistent()).isTrue();
    assertThat(keys(IntakeProcessor.STORE))
        .noneMatch(key -> key.startsWith("dedup-crc/"))
        .contains("dedup/" + Batches.key(1) + "-0");
    send(1, Batches.reads(1, 1, false, START_S, 101));
    send(1, Batches.reads(1, 2, false, START_S, 100));
    assertThat(output("lifeline.rejected").readValuesToList()).singleElement().asString()
        .contains("\"code\":\"conflict\"", "-0-1\"");
    assertThat(metrics.text()).contains("lifeline_duplicates_total{task=\"decode+summarise-0\"} 1");
  }

  @Test
  void aRouteThatHasEndedIsOnDiskAndKnown() {
    send(1, Batches.reads(1, 1, false, START_S, 100));
    send(1, Batches.reads(1, 2, true, START_S, 100));
    assertThat(keys(IntakeProcessor.STORE)).noneMatch(key -> key.startsWith("dedup/"));
    assertThat(keys(IntakeProcessor.CHECKSUMS))
        .singleElement().asString().startsWith("retired/dedup/").endsWith("/" + Batches.key(1) + "-0");
    send(1, Batches.reads(1, 1, false, START_S, 101));
    send(1, Batches.reads(1, 2, true, START_S, 100));
    assertThat(output("lifeline.rejected").readValuesToList()).singleElement().asString()
        .contains("\"code\":\"conflict\"", "-0-1\"");
    assertThat(metrics.text()).contains("lifeline_duplicates_total{task=\"decode+summarise-0\"} 1");
  }

  private List<String> keys(String store) {
    List<String> keys = new ArrayList<>();
    try (KeyValueIterator<String, byte[]> entries = driver.<String, byte[]>getKeyValueStore(store).all()) {
      entries.forEachRemaining(entry -> keys.add(entry.key));
    }
    return keys;
  }

  @Test
  void whatIsDeletedIsDeletedSomeAtATimeAndOnlyUnderItsPrefix() {
    KeyValueStore<String, byte[]> checksums = driver.getKeyValueStore(IntakeProcessor.CHECKSUMS);
    StoreState state = new StoreState(driver.getKeyValueStore(IntakeProcessor.STORE), checksums);
    for (int i = 0; i < 25; i++) {
      state.put("dedup-crc/1/" + i, new byte[1]);
      state.put("dedup-crc/12/" + i, new byte[1]);
    }
    assertThat(state.deleteSome("dedup-crc/1/", 10)).isFalse();
    assertThat(state.deleteSome("dedup-crc/1/", 10)).isFalse();
    assertThat(state.deleteSome("dedup-crc/1/", 10)).isTrue();
    List<String> left = new ArrayList<>();
    state.scan("dedup-crc/", (key, value) -> left.add(key));
    assertThat(left).hasSize(25).allMatch(key -> key.startsWith("dedup-crc/12/"));
  }

  /**
   * Producer timestamps are not trusted: a negative one must not kill a thread, and a future one must not close a
   * window.
   */
  @Test
  void timesOfProducersAreBelievedWithinBounds() {
    Instant future = Instant.ofEpochSecond(4_000_000_000L);
    for (Instant time : new Instant[] {START, Instant.ofEpochMilli(-1), future, START}) {
      batches.pipeInput(Batches.key(1), Batches.reads(1, ++sent, false, START_S, 100), time);
    }
    send(2, Batches.reads(2, 1, false, START_S, 200));
    advance(Duration.ofSeconds(1));
    assertThat(output("lifeline.events.disk.read.end").readValuesToList()).hasSize(5);
    assertThat(output("lifeline.summaries").isEmpty()).isTrue();
  }
}
