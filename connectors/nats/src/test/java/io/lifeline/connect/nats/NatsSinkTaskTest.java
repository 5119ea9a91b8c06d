package io.lifeline.connect.nats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.api.StreamConfiguration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.sink.ErrantRecordReporter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTaskContext;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a task says to the worker when the broker refuses or is away: as a worker would ask, step by step. */
@Tag("system")
class NatsSinkTaskTest {

  private static final TopicPartition PARTITION = new TopicPartition("small", 0);

  private static NatsServer server;

  @BeforeAll
  static void start() throws Exception {
    server = NatsServer.shared();
    try (Connection connection = server.connect()) {
      StreamConfiguration small =
          StreamConfiguration.builder().name("SMALL").subjects("small").maximumMessageSize(100).build();
      connection.jetStreamManagement().addStream(small);
    }
  }

  @Test
  void noOffsetGoesPastARefusedMessageThatNobodyTakes() {
    NatsSinkTask task = task(null);
    try {
      List<SinkRecord> records = List.of(record(0, 10), record(1, 1_000), record(2, 10));
      assertThatThrownBy(
              () -> {
                task.put(records);
                assertThat(committed(task, 3)).isEqualTo(1);
                task.put(records); // a worker goes back to what was committed
              })
          .isInstanceOf(ConnectException.class)
          .hasMessageStartingWith("small-0 at offset 1: NATS rejected the message: ");
      assertThat(committed(task, 3)).isEqualTo(1);
    } finally {
      task.stop();
    }
  }

  @Test
  void whereErrorsAreToleratedARefusedMessageThatNobodyTakesIsPassedBy() {
    NatsSinkTask task = task(null, "errors.tolerance", "all");
    try {
      task.put(List.of(record(0, 10), record(1, 1_000), record(2, 10)));
      assertThat(committed(task, 3)).isEqualTo(3);
    } finally {
      task.stop();
    }
  }

  @Test
  void anOffsetWaitsUntilTheDeadLetterIsWritten() {
    List<SinkRecord> letters = new ArrayList<>();
    CompletableFuture<Void> lost = CompletableFuture.failedFuture(new IllegalStateException("no such topic"));
    CompletableFuture<Void> written = CompletableFuture.completedFuture(null);
    NatsSinkTask task =
        task(
            (record, error) -> {
              letters.add(record);
              return letters.size() < 3 ? lost : written;
            });
    try {
      List<SinkRecord> records = List.of(record(0, 1_000), record(1, 10));
      try {
        task.put(records);
        assertThat(committed(task, 2)).isZero();
        task.put(List.of());
      } catch (ConnectException e) {
        assertThat(e).hasMessage("cannot write a record to the dead letter queue: no such topic");
      }
      while (committed(task, 2) < 2) {
        assertThat(letters).hasSizeLessThan(4);
      }
      assertThat(letters).hasSize(3).allMatch(letter -> letter.kafkaOffset() == 0);
    } finally {
      task.stop();
    }
  }

  /** Between the two the task had nothing to publish, so no acknowledgement showed that the broker was back. */
  @Test
  void twoOutagesAreNotTakenForALongOne() throws Exception {
    server.kill();
    NatsSinkTask task = task(null, "nats.retry.timeout.ms", "2000");
    try {
      assertThatThrownBy(() -> task.put(List.of())).isInstanceOf(RetriableException.class);
      long begunNs = System.nanoTime();
      server.start();
      task.put(List.of());
      while (System.nanoTime() - begunNs < Duration.ofMillis(2_100).toNanos()) {
        Thread.sleep(100);
      }
      server.kill();
      assertThatThrownBy(() -> putUntilItFails(task)).isInstanceOf(RetriableException.class);
    } finally {
      task.stop();
      server.start();
    }
  }

  private static void putUntilItFails(NatsSinkTask task) throws InterruptedException {
    while (true) {
      task.put(List.of());
      Thread.sleep(10);
    }
  }

  private static long committed(NatsSinkTask task, long consumed) {
    return task.preCommit(Map.of(PARTITION, new OffsetAndMetadata(consumed))).get(PARTITION).offset();
  }

  private static SinkRecord record(long offset, int size) {
    return new SinkRecord("small", 0, null, null, null, new byte[size], offset);
  }

  private static NatsSinkTask task(ErrantRecordReporter deadLetters, String... setting) {
    Map<String, String> settings = new HashMap<>();
    settings.put("nats.url", server.url());
    settings.put("nats.subject", "small");
    settings.put("nats.message.id", "none");
    if (setting.length > 0) {
      settings.put(setting[0], setting[1]);
    }
    NatsSinkTask task = new NatsSinkTask();
    task.initialize(new Context(deadLetters));
    task.start(settings);
    task.open(List.of(PARTITION));
    return task;
  }

  /** A worker without metrics, and with a dead letter queue or none. */
  private record Context(ErrantRecordReporter errantRecordReporter) implements SinkTaskContext {

    @Override
    public Map<String, String> configs() {
      return Map.of();
    }

    @Override
    public void offset(Map<TopicPartition, Long> offsets) {}

    @Override
    public void offset(TopicPartition partition, long offset) {}

    @Override
    public void timeout(long timeoutMs) {}

    @Override
    public Set<TopicPartition> assignment() {
      return Set.of(PARTITION);
    }

    @Override
    public void pause(TopicPartition... partitions) {}

    @Override
    public void resume(TopicPartition... partitions) {}

    @Override
    public void requestCommit() {}

    @Override
    public PluginMetrics pluginMetrics() {
      return null;
    }
  }
}
