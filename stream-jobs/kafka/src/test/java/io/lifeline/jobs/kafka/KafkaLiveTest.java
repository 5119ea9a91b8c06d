package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchReader;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.live.LiveMessages;
import io.lifeline.jobs.core.live.LiveStart;
import io.lifeline.servers.KafkaServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the reader of a broker's live messages with a real Kafka. Each test has a topic of its own. */
@Tag("system")
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class KafkaLiveTest {

  private static final Duration STEP = Duration.ofMillis(100);
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
  /** Recent, or Kafka's retention would remove the messages. */
  private static final long START_MS = System.currentTimeMillis() - 600_000;

  @TempDir static Path directory;

  private static KafkaServer server;

  private String topic;
  private long sent;

  @BeforeAll
  static void startServer() throws Exception {
    server = KafkaServer.start(directory);
  }

  @AfterAll
  static void stopServer() throws Exception {
    server.close();
  }

  @BeforeEach
  void nameTopic(TestInfo test) {
    topic = test.getTestMethod().orElseThrow().getName();
  }

  @Test
  void readsFromATimeOnAndThenWhatArrives() throws Exception {
    server.createTopic(topic, 2);
    send(0, START_MS, START_MS + 1000, START_MS + 2000);
    send(1, START_MS, START_MS + 3000);
    try (LiveMessages live = open(new LiveStart(START_MS + 1000))) {
      assertThat(live.isCaughtUp()).isFalse();
      assertThat(sequences(live, 2)).hasSize(2);
      assertThat(live.isCaughtUp()).as("one is left").isFalse();
      assertThat(sequences(live, 1)).hasSize(1);
      assertThat(live.isCaughtUp()).isTrue();
    }
    try (LiveMessages live = open(new LiveStart(START_MS + 1000))) {
      assertThat(sequences(live, 3)).containsExactlyInAnyOrder(2L, 3L, 5L);
      send(1, START_MS + 4000);
      LiveMessages.Message message = next(live);
      assertThat(sequence(message)).isEqualTo(6);
      assertThat(message.brokerTimeMs()).isEqualTo(START_MS + 4000);
      assertThat(live.next(STEP)).isNull();
      assertThat(live.trouble()).isNull();
    }
  }

  /** A partition without a message since that time is read from its end. */
  @Test
  void leavesOutWhatIsStoredWhenItStartsNow() throws Exception {
    server.createTopic(topic, 2);
    send(0, START_MS, START_MS);
    send(1, START_MS);
    for (LiveStart start : List.of(LiveStart.NOW, new LiveStart(START_MS + 1000))) {
      try (LiveMessages live = open(start)) {
        assertThat(live.next(STEP)).isNull();
        assertThat(live.isCaughtUp()).isTrue();
        long expected = sent + 1;
        send(1, START_MS);
        assertThat(sequence(next(live))).isEqualTo(expected);
      }
    }
  }

  @Test
  void readsWhatJobsPublish() throws Exception {
    server.createTopic(topic + ".alerts", 1);
    JobConfig settings = JobConfig.load(null, Map.of(), Map.of("broker.url", server.url(), "names.prefix", topic));
    try (LiveMessages live = KafkaLive.published(settings, LiveStart.NOW, Destination.ALERTS)) {
      assertThat(live.next(STEP)).isNull();
      assertThat(live.isCaughtUp()).isTrue();
      send(topic + ".alerts", 0, START_MS);
      assertThat(sequence(next(live))).isEqualTo(1);
    }
  }

  @Test
  void readsPartitionsThatAreAddedMeanwhile() throws Exception {
    server.createTopic(topic, 1);
    try (LiveMessages live = open(LiveStart.NOW)) {
      assertThat(live.next(STEP)).isNull();
      server.raisePartitions(topic, 3);
      send(2, START_MS);
      assertThat(sequence(next(live))).isEqualTo(1);
      send(0, START_MS);
      assertThat(sequence(next(live))).isEqualTo(2);
    }
  }

  @Test
  void goesOnAfterTheBrokerWasKilledAndStartedAgain() throws Exception {
    server.createTopic(topic, 2);
    send(0, START_MS);
    try (LiveMessages live = open(new LiveStart(0))) {
      assertThat(sequence(next(live))).isEqualTo(1);
      server.kill();
      awaitTrouble(live, server.url() + "/" + topic + " does not answer");
      server.start();
      send(0, START_MS);
      send(1, START_MS);
      assertThat(sequences(live, 2)).containsExactlyInAnyOrder(2L, 3L);
      assertThat(live.next(STEP)).isNull();
      assertThat(live.trouble()).isNull();
    }
  }

  @Test
  void waitsForABrokerThatIsStartedLater() throws Exception {
    server.createTopic(topic, 1);
    send(0, START_MS);
    server.kill();
    try (LiveMessages live = open(new LiveStart(0))) {
      awaitTrouble(live, server.url() + "/" + topic + " does not answer: check that it is running, broker.url, and that"
          + " both sides agree on TLS and passwords");
      server.start();
      assertThat(sequence(next(live))).isEqualTo(1);
    }
  }

  @Test
  void namesAMissingTopicAndReadsItOnceItIsMade() throws Exception {
    try (LiveMessages live = open(LiveStart.NOW)) {
      awaitTrouble(live, server.url() + "/" + topic + ": there is no topic " + topic + "; create it with lifeline-setup");
      server.createTopic(topic, 1);
      while (live.next(STEP) != null || live.trouble() != null) {
        Thread.onSpinWait();
      }
      send(0, START_MS);
      assertThat(sequence(next(live))).isEqualTo(1);
    }
  }

  @Test
  void saysInTimeThatTheBrokerIsAway() throws Exception {
    server.createTopic(topic, 1);
    send(0, START_MS);
    try (LiveMessages live = open(new LiveStart(0))) {
      assertThat(sequence(next(live))).isEqualTo(1);
      server.pause();
      try {
        long begunNs = System.nanoTime();
        awaitTrouble(live, server.url() + "/" + topic + " does not answer");
        assertThat(System.nanoTime() - begunNs).isLessThan(TimeUnit.SECONDS.toNanos(30)); // Kafka's own time is a minute
      } finally {
        server.resume();
      }
      send(0, START_MS);
      assertThat(sequence(next(live))).isEqualTo(2);
    }
  }

  @Test
  void endsWhenItsThreadIsInterrupted() throws Exception {
    server.createTopic(topic, 1);
    try (LiveMessages live = open(LiveStart.NOW)) {
      assertThat(live.next(STEP)).isNull();
      List<Throwable> thrown = new ArrayList<>();
      Thread reader = new Thread(() -> {
        try {
          live.next(Duration.ofMinutes(5));
        } catch (InterruptedException e) {
          thrown.add(e);
        }
      });
      reader.start();
      reader.interrupt();
      reader.join(TimeUnit.NANOSECONDS.toMillis(PATIENCE_NS));
      assertThat(thrown).hasSize(1);
    }
  }

  private LiveMessages open(LiveStart start) {
    Map<String, String> settings = Map.of("broker.url", server.url() + "/" + topic);
    return KafkaLive.batches(JobConfig.load(null, Map.of(), settings), start);
  }

  /** Sends a batch with each of these times. */
  private void send(int partition, long... timesMs) throws Exception {
    send(topic, partition, timesMs);
  }

  private void send(String to, int partition, long... timesMs) throws Exception {
    Map<String, Object> settings = Map.of("bootstrap.servers", server.bootstrapServers());
    try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer())) {
      for (long timeMs : timesMs) {
        byte[] batch = Batches.reads(1, ++sent, false, START_MS / 1000, sent);
        producer.send(new ProducerRecord<>(to, partition, timeMs, Batches.key(1), batch)).get();
      }
    }
  }

  private static void awaitTrouble(LiveMessages live, String trouble) throws Exception {
    long deadline = System.nanoTime() + PATIENCE_NS;
    while (!trouble.equals(live.trouble()) && System.nanoTime() < deadline) {
      assertThat(live.next(STEP)).isNull();
    }
    assertThat(live.trouble()).isEqualTo(trouble);
  }

  private static List<Long> sequences(LiveMessages live, int count) throws Exception {
    List<Long> sequences = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      sequences.add(sequence(next(live)));
    }
    return sequences;
  }

  private static long sequence(LiveMessages.Message message) throws Exception {
    return new BatchReader().read(message.data(), 0, message.data().length).sequence();
  }

  private static LiveMessages.Message next(LiveMessages live) throws Exception {
    long deadline = System.nanoTime() + PATIENCE_NS;
    LiveMessages.Message message = null;
    while (message == null) {
      assertThat(System.nanoTime()).as("nothing came; trouble: %s", live.trouble()).isLessThan(deadline);
      message = live.next(STEP);
    }
    return message;
  }
}
