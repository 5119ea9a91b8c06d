package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.StateWriter;
import io.lifeline.jobs.core.bottleneck.BottleneckFactory;
import io.lifeline.jobs.core.bottleneck.Sample;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.signing.Signatures;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the stream time of groups whose samples were read from several partitions. */
class SecondStageProcessorTest {

  private static final long NOW_MS = 1_800_000_000_000L;
  private static final long BACKLOG_MS = NOW_MS - Duration.ofHours(8).toMillis();

  @TempDir private Path stateDirectory;
  private MockProcessorContext<String, Outgoing> context;
  private SecondStageProcessor<Sample> monitor;
  private long wallClockMs = NOW_MS;

  @BeforeEach
  void open() {
    JobConfig config = JobConfig.load(null, Map.of(), Map.of("broker.url", "kafka://127.0.0.1:1"));
    TopologySettings settings =
        new TopologySettings(
            "bottleneck",
            "lifeline.batches",
            new BatchPlaces(2, List.of(), Map.of()),
            "lifeline",
            Duration.ofDays(7),
            new Metrics(),
            (topic, kind) -> topic,
            partition -> CompletableFuture.completedFuture(0L),
            () -> "topic",
            Signatures.of(List.of()),
            () -> wallClockMs * 1_000_000);
    context = new MockProcessorContext<>(new Properties(), new TaskId(0, 0), stateDirectory.toFile());
    context.setCurrentSystemTimeMs(wallClockMs);
    KeyValueStore<String, byte[]> store =
        Stores.keyValueStoreBuilder(
                Stores.inMemoryKeyValueStore("lifeline-monitor"), Serdes.String(), Serdes.ByteArray())
            .withLoggingDisabled()
            .build();
    store.init(context.getStateStoreContext(), store);
    monitor = new SecondStageProcessor<>(settings, new BottleneckFactory().plan(config, new Metrics()));
    monitor.init(context);
  }

  @Test
  void aGroupInABacklogIsNotSilentBecauseAnotherPartitionIsAtThePresent() {
    for (int second = 0; second < 60; second++) {
      read(0, BACKLOG_MS + second * 1000L, "copy", "disk-write", 60 + second % 7);
      read(0, BACKLOG_MS + second * 1000L, "copy", "disk-read", 10 + second % 3);
      read(1, NOW_MS, "other", "disk-read", 10);
      pass(Duration.ofMillis(20));
    }
    assertThat(alerts()).singleElement().asString().contains("\"subject\":\"disk-write\"", "\"state\":\"on\"");
  }

  @Test
  void aGroupIsSilentWhenNothingComesAnyMoreFromAnyPartition() {
    for (int second = 0; second < 60; second++) {
      read(0, NOW_MS + second * 1000L, "copy", "disk-write", 60 + second % 7);
      read(0, NOW_MS + second * 1000L, "copy", "disk-read", 10 + second % 3);
      pass(Duration.ofSeconds(1));
    }
    assertThat(alerts()).hasSize(1);
    pass(Duration.ofSeconds(62));
    assertThat(alerts()).hasSize(2).last().asString().contains("\"state\":\"off\"", "\"reason\":\"silent\"");
  }

  /** Returns one second of a component's operations, each of a megabyte and about that many milliseconds. */
  private void read(int partition, long timeMs, String program, String component, double milliseconds) {
    String group = "program=" + program;
    double busyNs = 10 * milliseconds * 1e6;
    long endNs = timeMs * 1_000_000;
    Sample sample =
        new Sample(group, component, Batches.key(1), endNs, Batches.NS_PER_S, 10, 1e7, busyNs, busyNs, 1);
    Record<String, byte[]> message = new Record<>(group, sample.toBytes(), timeMs);
    message.headers().add(IntakeProcessor.PARTITION_HEADER, new StateWriter().varint(partition).toBytes());
    monitor.process(message);
  }

  private void pass(Duration time) {
    wallClockMs += time.toMillis();
    context.setCurrentSystemTimeMs(wallClockMs);
    context.scheduledPunctuators().stream().filter(punctuator -> !punctuator.cancelled())
        .forEach(punctuator -> punctuator.getPunctuator().punctuate(wallClockMs));
  }

  private List<String> alerts() {
    return context.forwarded().stream()
        .map(forwarded -> new String(((Outgoing) forwarded.record().value()).value(), StandardCharsets.UTF_8))
        .toList();
  }
}
