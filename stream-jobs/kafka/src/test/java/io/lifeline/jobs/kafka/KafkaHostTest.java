package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveFeed;
import io.lifeline.jobs.archive.ArchiveWriteException;
import io.lifeline.jobs.archive.RollOptions;
import io.lifeline.jobs.archive.parquet.ManifestCounts;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.servers.PostgresServer;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the host with a real broker. Each test has topics of its own. */
@ExtendWith(EmbeddedKafka.Shared.class)
@Tag("system")
@Timeout(value = 280, unit = TimeUnit.SECONDS)
class KafkaHostTest {

  private static final Duration PATIENCE = Duration.ofSeconds(180);
  private static EmbeddedKafka kafka;

  @TempDir private Path directory;
  private final Metrics metrics = new Metrics();
  private String prefix;

  @BeforeAll
  static void takeBroker(EmbeddedKafka shared) {
    kafka = shared;
  }

  @BeforeEach
  void createTopics(TestInfo test) throws Exception {
    String name = test.getTestMethod().orElseThrow().getName();
    prefix = name + test.getDisplayName().replaceAll("[^\\[\\w].*|[^\\w]", "").replace(name, "");
    kafka.createTopics(2, prefix + ".batches", prefix + ".summaries", prefix + ".ledger", prefix + ".rejected");
  }

  private KafkaHost host(String jobs, Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(more);
    settings.putIfAbsent("broker.url", kafka.url() + "/" + prefix + ".batches");
    settings.put("names.prefix", prefix);
    settings.put("jobs", jobs);
    settings.putIfAbsent("checkpoint.interval", "100ms");
    settings.putIfAbsent("ledger.interval", "1s");
    return new KafkaHost(JobConfig.load(null, Map.of(), settings), metrics);
  }

  private KafkaSettings settings(Map<String, String> more) {
    Map<String, String> settings = new HashMap<>(more);
    settings.putIfAbsent("broker.url", kafka.url() + "/" + prefix + ".batches");
    return new KafkaSettings(JobConfig.load(null, Map.of(), settings));
  }

  private void send(long emitter, byte[] batch) throws Exception {
    kafka.send(prefix + ".batches", Batches.key(emitter), batch);
  }

  private List<ConsumerRecord<String, String>> read(String topic, int count) throws Exception {
    return kafka.read(prefix + "." + topic, count, PATIENCE);
  }

  @Test
  void everyJobWorksOnTheSameBatches() throws Exception {
    long nowS = System.currentTimeMillis() / 1000;
    Map<String, String> settings =
        Map.of(
            "decode.types", "disk.*",
            "summarise.fields", "*:nbytes",
            "summarise.window", "1s",
            "archive.dir", directory.toString());
    try (KafkaHost host = host("decode,summarise,archive,ledger", settings)) {
      host.start();
      send(1, Batches.reads(1, 1, false, nowS, 100, 300));
      send(1, Batches.reads(1, 2, true, nowS, 200));
      send(2, Batches.reads(2, 1, true, nowS, 50));

      assertThat(read("events.disk.read.end", 4)).hasSize(4);
      assertThat(read("summaries", 2)).isNotEmpty();
      assertThat(read("ledger", 2)).isNotEmpty();
      awaitMetric("lifeline_batches_total{task=\"archive\"} 3");
      awaitMetric("lifeline_lag_messages{task=\"archive\"} 0\n");
      awaitMetric("lifeline_kafka_lag_max 0\n");
      String running = "running";
      Map<String, String> healthy =
          Map.of("decode", running, "summarise", running, "archive", running, "ledger", running);
      await("health", host::health, healthy::equals);
    }
    assertThat(new ManifestCounts(directory).refresh()).as("wrong books: archived events")
        .containsEntry(new RouteKey(new Incarnation(0, 1), 0), 3L)
        .containsEntry(new RouteKey(new Incarnation(0, 2), 0), 1L);
  }

  /** Until it is replaced, an instance leaves alone what a later release has written. */
  @Test
  void anInstanceStaysIdleWhereALaterReleaseHasBeen() throws Exception {
    try (KafkaHost host = host("ledger", Map.of())) {
      host.start();
      send(1, Batches.reads(1, 1, true, 1000, 100));
      assertThat(read("ledger", 1)).isNotEmpty();
    }
    String log = prefix + "-jobs-lifeline-intake-changelog";
    byte[] later = {99};
    kafka.send(List.of(new ProducerRecord<>(log, 0, "clock", later), new ProducerRecord<>(log, 1, "clock", later)));
    try (KafkaHost host = host("ledger", Map.of())) {
      host.start();
      await("health", () -> host.health().get("ledger"),
          status -> status.startsWith("outdated: a later release wrote the state (layout 99, "));
      assertThat(host.failure().toCompletableFuture()).isNotDone();
    }
  }

  @Test
  void theBooksOfAFilteredStreamCloseInAHostThatReadsIt() throws Exception {
    Map<String, String> filter = Map.of("filter.large", "nbytes >= 100");
    Map<String, String> derived =
        Map.of("broker.url", kafka.url() + "/" + prefix + ".derived.large", "archive.dir", directory.toString());
    try (KafkaHost first = host("filter", filter)) {
      first.start();
      send(1, Batches.reads(1, 1, false, 1000, 100, 5, 300));
      send(1, Batches.reads(1, 2, true, 1003, 7));
      assertThat(read("derived.large", 2)).hasSize(2);
      assertThat(kafka.partitions(prefix + ".derived.large")).isEqualTo(2);
      try (KafkaHost second = host("archive,ledger", derived)) {
        second.start();
        awaitMetric("lifeline_batches_total{task=\"archive\"} 2");
        await("the last word", () -> newest("ledger"), balance -> balance.contains("\"state\":\"final\","));
      }
    }
    assertThat(newest("ledger"))
        .contains(
            "\"route_name\":\"large\"",
            "\"state\":\"final\",",
            "\"emitted\":2,\"received\":2,",
            "\"below_threshold\":2,",
            "\"derived_from\":\"" + Batches.key(1) + "\",\"events_in\":4,",
            "\"missing_batches\":0,");
    assertThat(new ManifestCounts(directory).refresh().values()).as("wrong books: archived events")
        .containsExactly(2L);
  }

  @Test
  void whatWasSeenBeforeARestartIsStillKnownAfterIt() throws Exception {
    byte[] batch = Batches.reads(1, 1, false, 1000, 100);
    Map<String, String> settings = Map.of("decode.types", "*");
    try (KafkaHost host = host("decode", settings)) {
      host.start();
      send(1, batch);
      assertThat(read("events.disk.read.end", 1)).hasSize(1);
    }
    try (KafkaHost host = host("decode", settings)) {
      host.start();
      send(1, batch);
      send(1, Batches.reads(1, 2, false, 1001, 200));
      List<ConsumerRecord<String, String>> events = read("events.disk.read.end", 2);
      assertThat(events).extracting(ConsumerRecord::value).hasSize(2);
      assertThat(events.get(1).value()).contains("200");
      // At least: what a transaction that Kafka aborts has counted is counted again.
      assertThat(metrics.text()).containsPattern("lifeline_duplicates_total\\{task=\"decode-[01]\"} [1-9]");
    }
  }

  /** A partition with a short backlog is up to date at once, while the other has hours of it left. */
  @Test
  void noPartitionMakesAnothersBacklogLate() throws Exception {
    int batches = 8_000;
    long nowS = System.currentTimeMillis() / 1000;
    List<ProducerRecord<String, byte[]>> backlog = new ArrayList<>();
    for (int i = 1; i <= batches; i++) {
      backlog.add(message(0, emitterIn(0), i, i == batches, nowS - batches + i));
    }
    backlog.add(message(1, emitterIn(1), 1, false, nowS));
    kafka.send(backlog);
    try (KafkaHost host = host("summarise", Map.of("summarise.fields", "*:nbytes"))) {
      host.start();
      awaitMetric("lifeline_summarise_values_total " + (batches + 1));
      assertThat(metrics.text()).contains("lifeline_summarise_late_values_total 0\n");
    }
  }

  private static long emitterIn(int partition) {
    return LongStream.range(1, 100)
        .filter(emitter -> BatchPlaces.partition(new Incarnation(0, emitter), 2) == partition)
        .findFirst()
        .orElseThrow();
  }

  /** Returns a batch of one read, stored by the broker at the time of the read. */
  private ProducerRecord<String, byte[]> message(
      int partition, long emitter, int sequence, boolean isFinal, long second) {
    byte[] batch = Batches.reads(emitter, sequence, isFinal, second, 100);
    return new ProducerRecord<>(prefix + ".batches", partition, second * 1000, Batches.key(emitter), batch);
  }

  @Test
  void theArchiveGoesOnFromItsOwnEnd() throws Exception {
    Map<String, String> settings = Map.of("archive.dir", directory.toString());
    try (KafkaHost host = host("archive", settings)) {
      host.start();
      send(1, Batches.reads(1, 1, false, 1000, 1, 2));
      awaitMetric("lifeline_batches_total{task=\"archive\"} 1");
    }
    send(1, Batches.reads(1, 2, false, 1002, 3));
    send(1, new byte[] {1, 2, 3});
    try (KafkaHost host = host("archive", settings)) {
      host.start();
      assertThat(read("rejected", 1)).singleElement().satisfies(r -> assertThat(r.value()).contains("truncated"));
      awaitMetric("lifeline_batches_total{task=\"archive\"} 2");
    }
    assertThat(new ManifestCounts(directory).refresh()).as("wrong books: archived events")
        .containsExactly(Map.entry(new RouteKey(new Incarnation(0, 1), 0), 3L));
  }

  @Test
  void anArchiveInPostgresHoldsEachEventOnceAndBalancesTheLedger() throws Exception {
    PostgresServer server = PostgresServer.shared();
    Map<String, String> settings = Map.of("archive.url", server.url(), "archive.password.file",
        server.passwordFile().toString(), "archive.schema", "on_kafka", "archive.roll.interval", "100ms",
        "ledger.interval", "200ms");
    send(1, Batches.reads(1, 1, false, 1000, 1, 2));
    try (KafkaHost host = host("archive", settings)) {
      host.start();
      awaitMetric("lifeline_batches_total{task=\"archive\"} 1");
    }
    send(1, Batches.reads(1, 1, false, 1000, 1, 2));
    send(1, Batches.reads(1, 2, true, 1002, 3));
    try (KafkaHost host = host("archive", settings)) {
      host.start();
      awaitMetric("lifeline_batches_total{task=\"archive\"} 2"); // since the test began
      awaitMetric("lifeline_duplicates_total{task=\"archive\"} 1");
    }
    try (Connection connection = server.connect(); Statement sql = connection.createStatement();
        ResultSet row = sql.executeQuery("SELECT count(*), (SELECT sum(archived) FROM on_kafka.ledger),"
            + " (SELECT sum(next) FROM on_kafka.positions) FROM on_kafka.events")) {
      row.next();
      assertThat(List.of(row.getLong(1), row.getLong(2), row.getLong(3))).containsExactly(3L, 3L, 3L);
    }
  }

  @Test
  void anArchiveIsTakenOverAsSoonAsItsWriterHasGone() throws Exception {
    Map<String, String> settings = Map.of("archive.dir", directory.toString());
    try (KafkaHost second = host("archive", settings)) {
      try (KafkaHost first = host("archive", settings)) {
        first.start();
        second.start();
        assertThat(first.health()).containsEntry("archive", "running");
        assertThat(second.health()).containsEntry("archive", "standby");
        send(1, Batches.reads(1, 1, false, 1000, 1, 2));
        awaitMetric("lifeline_batches_total{task=\"archive\"} 1");
      }
      send(1, Batches.reads(1, 2, false, 1002, 3));
      awaitMetric("lifeline_batches_total{task=\"archive\"} 2");
      assertThat(second.health()).containsEntry("archive", "running");
    }
    assertThat(new ManifestCounts(directory).refresh()).as("wrong books: archived events")
        .containsExactly(Map.entry(new RouteKey(new Incarnation(0, 1), 0), 3L));
  }

  @Test
  void anArchiveOfATopicThatWasMadeAnewStopsTheHostInsteadOfLosingData() throws Exception {
    Map<String, String> settings = Map.of("archive.dir", directory.toString());
    try (KafkaHost host = host("archive", settings)) {
      host.start();
      send(1, Batches.reads(1, 1, false, 1000, 1, 2));
      awaitMetric("lifeline_batches_total{task=\"archive\"} 1");
    }
    kafka.deleteTopic(prefix + ".batches");
    kafka.createTopics(2, prefix + ".batches");
    try (KafkaHost host = host("archive", settings)) {
      host.start();
      assertThat(host.failure().toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
          .hasMessageContaining("it was recreated, so give it another archive");
    }
  }

  @Test
  void topicsOfEventsAreMadeWithAsManyPartitionsAsTheirReadersCountOn() throws Exception {
    try (Topics topics = new Topics(settings(Map.of()));
        Topics wider = new Topics(settings(Map.of("decode.partitions", "3")))) {
      String narrow = topics.ensure(prefix + ".narrow", Destination.Kind.EVENTS);
      String wide = wider.ensure(prefix + ".wide", Destination.Kind.EVENTS);
      assertThat(wider.ensure(narrow, Destination.Kind.EVENTS)).isEqualTo(narrow);
      topics.require(List.of(narrow, wide));
      assertThat(kafka.partitions(narrow)).isEqualTo(1);
      assertThat(kafka.partitions(wide)).isEqualTo(3);
    }
  }

  @Test
  void typesWhoseNamesKafkaTakesForTheSameGetTopicsOfTheirOwn() throws Exception {
    try (Topics topics = new Topics(settings(Map.of()))) {
      assertThat(topics.ensure(prefix + ".read.end", Destination.Kind.EVENTS)).isEqualTo(prefix + ".read.end");
      String other = topics.ensure(prefix + ".read_end", Destination.Kind.EVENTS);
      assertThat(other).startsWith(prefix + ".read_end-");
      assertThat(topics.ensure(prefix + ".read_end", Destination.Kind.EVENTS)).isEqualTo(other);
      topics.require(List.of(prefix + ".read.end", other));
    }
  }

  private static ArchivePlaces anywhere() {
    return new ArchivePlaces(new BatchPlaces(1, List.of(2), Map.of()), () -> 1);
  }

  /**
   * Failed messages are read again and look fine until they fail again: the host must stay unhealthy, and count them
   * once. Also when only the read position is to be stored, because all messages are rejected.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anArchiveThatCannotStoreIsFailingUntilItHasStoredAndCountsOnce(boolean isBatch) throws Exception {
    AtomicInteger failures = new AtomicInteger();
    AtomicBoolean isRepaired = new AtomicBoolean();
    ArchiveFeed feed =
        new ArchiveFeed() {
          @Override
          public void reject(Rejection rejection) {}

          @Override
          public void beforeStoring() throws IOException {
            if (!isRepaired.get()) {
              failures.incrementAndGet();
              throw new ArchiveWriteException("the disk is full", null);
            }
          }
        };
    RollOptions roll = ParquetOptions.DEFAULT_ROLL.withInterval(Duration.ofMillis(300));
    ParquetArchive archive = new ParquetArchive(ParquetOptions.in(directory).withRoll(roll));
    ArchiveLoop loop = new ArchiveLoop(
        settings(Map.of()), archive, ArchiveShare.WHOLE, feed, anywhere(), RollOptions.DEFAULT_INTERVAL, metrics,
        new CompletableFuture<>());
    Thread thread = new Thread(loop);
    thread.start();
    send(1, isBatch ? Batches.reads(1, 1, false, 1000, 1) : new byte[] {1});
    await("a failure", failures::get, count -> count > 0);
    await("the status", loop::status, "retrying: the disk is full"::equals);
    double unstored = 0;
    while (failures.get() < 3) {
      assertThat(loop.status()).isEqualTo("retrying: the disk is full");
      double now = gauge("lifeline_unstored_seconds{task=\"archive\"}");
      assertThat(now).as("time without storing, which no attempt shortens").isGreaterThanOrEqualTo(unstored);
      unstored = now;
    }
    assertThat(unstored).isPositive();
    isRepaired.set(true);
    await("the status", loop::status, "running"::equals);
    loop.stop();
    thread.join();
    String counted = isBatch ? "batches" : "rejected";
    assertThat(metrics.text()).contains("lifeline_" + counted + "_total{task=\"archive\"} 1\n");
    assertThat(new ManifestCounts(directory).refresh().values()).containsExactlyElementsOf(isBatch ? List.of(1L) : List.of());
  }

  @Test
  void typesWithoutEndMakeNoTopicsWithoutEnd() throws Exception {
    Map<String, String> more = Map.of("names.prefix", prefix, "decode.types", "*,named", "decode.max.topics", "2");
    String events = prefix + ".events.";
    for (int run = 0; run < 2; run++) {
      try (Topics topics = new Topics(settings(more))) {
        topics.require(List.of());
        assertThat(topics.ensure(events + "a", Destination.Kind.EVENTS)).isEqualTo(events + "a");
        assertThat(topics.ensure(events + "b", Destination.Kind.EVENTS)).isEqualTo(events + "b");
        assertThat(topics.ensure(events + "c" + run, Destination.Kind.EVENTS)).isNull();
        assertThat(topics.ensure(events + "named", Destination.Kind.EVENTS)).isEqualTo(events + "named");
      }
    }
    assertThat(kafka.topics()).doesNotContain(events + "c0", events + "c1");
  }

  @Test
  void anArchiveThatDiesIsToldWhateverItDiesOf() throws Exception {
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    ArchiveFeed fatal =
        rejection -> {
          throw new OutOfMemoryError("only a test");
        };
    ParquetArchive archive = new ParquetArchive(ParquetOptions.in(directory));
    ArchiveLoop loop = new ArchiveLoop(settings(Map.of()), archive, ArchiveShare.WHOLE, fatal, anywhere(),
        RollOptions.DEFAULT_INTERVAL, metrics, failure);
    Thread thread = new Thread(loop);
    thread.start();
    send(1, new byte[] {1, 2, 3});
    assertThat(failure.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isInstanceOf(OutOfMemoryError.class);
    assertThat(loop.status()).isEqualTo("failed: only a test");
    thread.join();
  }

  /** New batches at offsets before the archive's end must not be skipped, whatever the topic's length. */
  @ParameterizedTest
  @ValueSource(ints = {1, 20})
  void aTopicThatIsMadeAnewEndsTheArchiveAndIsNotSkipped(int batches) throws Exception {
    Map<String, String> settings = Map.of("archive.dir", directory.toString(), "archive.roll.interval", "100ms");
    try (KafkaHost host = host("archive", settings)) {
      host.start();
      for (int i = 1; i <= 5; i++) {
        send(1, Batches.reads(1, i, false, 1000, 1));
      }
      ManifestCounts counts = new ManifestCounts(directory);
      await("the archive", counts::refresh, now -> now.equals(Map.of(new RouteKey(new Incarnation(0, 1), 0), 5L)));
      kafka.deleteTopic(prefix + ".batches");
      kafka.createTopics(2, prefix + ".batches");
      for (int i = 1; i <= batches; i++) {
        send(1, Batches.reads(2, i, false, 1000, 1));
      }
      Throwable failure = host.failure().toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(failure).hasMessageContaining("it was recreated, so give it another archive");
      assertThat(counts.refresh()).hasSize(1);
    }
    try (KafkaHost host = host("archive", settings)) {
      host.start();
      assertThat(host.failure().toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
          .hasMessageContaining("it was recreated, so give it another archive");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aTopicThatIsMadeAnewEndsTheStreamJobs(boolean whileTheyRun) throws Exception {
    KafkaHost host = host("ledger", Map.of());
    try {
      host.start();
      for (int i = 1; i <= 5; i++) {
        send(1, Batches.reads(1, i, false, 1000, 1));
      }
      await("the ledger", () -> newest("ledger"), balance -> balance.contains("\"batches\":5,"));
      if (!whileTheyRun) {
        host.close();
      }
      kafka.deleteTopic(prefix + ".batches");
      kafka.createTopics(2, prefix + ".batches");
      for (int i = 1; i <= 10; i++) {
        send(1, Batches.reads(2, i, false, 1000, 1));
      }
      if (!whileTheyRun) {
        host = host("ledger", Map.of());
        host.start();
      }
      assertThat(host.failure().toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
          .isInstanceOf(TopicReplacedException.class)
          .hasMessageContaining("was recreated");
    } finally {
      host.close();
    }
  }

  @Test
  void aBrokerThatIsAwayIsNoticedThoughStreamsIsNotTroubled() throws Exception {
    try (Topics here = new Topics(settings(Map.of()));
        Topics away = new Topics(settings(Map.of("broker.url", "kafka://127.0.0.1:1")))) {
      await("an answer", here::answers, isTrue -> isTrue); // within two seconds
      assertThat(away.answers()).isFalse();
      // Stream threads, whose transactions time out, do not wait for the broker to return.
      assertThatThrownBy(() -> away.ensure("events", Destination.Kind.EVENTS))
          .isInstanceOf(TopicPendingException.class);
      for (int metric = 0; metric < 100; metric++) { // of which one waits
        assertThat(away.lag(Map.of(0, 0L))).isNaN();
      }
    }
  }

  @Test
  void aMissingTopicIsNamedWithWhatMakesIt() throws Exception {
    kafka.deleteTopic(prefix + ".rejected");
    try (KafkaHost host = host("summarise", Map.of())) {
      assertThatThrownBy(host::start)
          .isInstanceOf(HostException.class)
          .hasMessageContaining("has no topic " + prefix + ".rejected: create them with lifeline-setup");
    }
  }

  @Test
  void aSettingThatAJobNeedsIsMissedAtTheStart() throws Exception {
    try (KafkaHost host = host("decode", Map.of())) {
      assertThatThrownBy(host::start)
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("decode.types is not set");
    }
  }

  @Test
  void clientsThatCannotBeMadeSayWhy() throws Exception {
    try (KafkaHost host = host("summarise", Map.of("kafka.security.protocol", "SIDEWAYS"))) {
      assertThatThrownBy(host::start).isInstanceOf(HostException.class).hasMessageContaining("SIDEWAYS");
    }
  }

  @Test
  void nativeSettingsReachTheClients() throws Exception {
    try (KafkaHost host = host("decode", Map.of("decode.types", "*", "kafka.application.id", prefix + "-mine"))) {
      host.start();
      send(1, Batches.reads(1, 1, false, 1000, 1));
      awaitMetric("lifeline_batches_total{task=\"decode-");
      assertThat(kafka.topics()).contains(prefix + "-mine-lifeline-intake-changelog");
    }
  }

  /** Returns the newest message of a topic whose messages all have one key; waits for the first. */
  private String newest(String topic) throws Exception {
    read(topic, 1);
    List<ConsumerRecord<String, String>> all = kafka.readAll(prefix + "." + topic);
    return all.get(all.size() - 1).value();
  }

  @Test
  void aBatchThatIsCopiedToEveryPartitionCountsOnce() throws Exception {
    long nowS = System.currentTimeMillis() / 1000;
    Map<String, String> settings = Map.of("summarise.fields", "*:nbytes", "summarise.window", "1s",
        "archive.dir", directory.toString(), "archive.threads", "2");
    try (KafkaHost host = host("summarise,ledger,archive", settings)) {
      host.start();
      byte[] batch = Batches.reads(1, 1, true, nowS, 100, 300);
      send(1, batch);
      String topic = prefix + ".batches";
      kafka.send(List.of(new ProducerRecord<>(topic, 0, Batches.key(1), batch),
          new ProducerRecord<>(topic, 1, Batches.key(1), batch)));
      assertThat(read("rejected", 1)).singleElement().extracting(ConsumerRecord::value).asString()
          .contains("\"code\":\"misplaced\"", "\"batch\":\"" + Batches.key(1) + "-0-1\"");
      await("the last word", () -> newest("ledger"), balance -> balance.contains("\"state\":\"final\","));
      assertThat(newest("ledger")).contains("\"received\":2,");
      assertThat(metrics.text()).contains("lifeline_summarise_values_total 2\n");
      awaitMetric("lifeline_rejected_total{task=\"archive\"} 1\n");
    }
    assertThat(new ManifestCounts(directory).refresh()).as("wrong books: archived events")
        .isEqualTo(Map.of(new RouteKey(new Incarnation(0, 1), 0), 2L));
  }

  private double gauge(String series) {
    return metrics.text().lines().filter(line -> line.startsWith(series + " ")).findFirst()
        .map(line -> Double.parseDouble(line.substring(series.length() + 1))).orElseThrow();
  }

  /** A consumer that is stuck learns of nothing new. */
  @Test
  void theBrokerIsAskedForTheLag() throws Exception {
    try (Topics topics = new Topics(settings(Map.of("names.prefix", prefix)))) {
      int partitions = topics.partitions();
      assertThat(topics.largestUncommitted()).isZero();
      for (int i = 1; i <= 3; i++) {
        send(1, Batches.reads(1, i, false, 1000, 1));
      }
      int partition = BatchPlaces.partition(new Incarnation(0, 1), partitions);
      assertThat(topics.largestUncommitted()).isEqualTo(3);
      assertThat(topics.lag(Map.of(partition, 1L, 1 - partition, 0L))).isEqualTo(2);
    }
  }

  private void awaitMetric(String line) throws Exception {
    await("metrics", metrics::text, text -> text.contains(line));
  }

  @Test
  void addedPartitionsAreArchivedOnceAndEndTheStreamJobsWithARemedy() throws Exception {
    long nowS = System.currentTimeMillis() / 1000;
    try (KafkaHost host = host("archive,summarise", Map.of("archive.dir", directory.toString()))) {
      host.start();
      byte[] first = Batches.reads(1, 1, false, nowS, 100, 300);
      kafka.send(List.of(new ProducerRecord<>(prefix + ".batches", 0, Batches.key(1), first)));
      awaitMetric("lifeline_batches_total{task=\"archive\"} 1\n");
      kafka.raisePartitions(prefix + ".batches", 4);
      int now = BatchPlaces.partition(new Incarnation(0, 1), 4);
      assertThat(now).isGreaterThan(1);
      kafka.send(List.of(new ProducerRecord<>(prefix + ".batches", now, Batches.key(1), first),
          new ProducerRecord<>(prefix + ".batches", now, Batches.key(1), Batches.reads(1, 2, true, nowS, 100, 300))));
      awaitMetric("lifeline_batches_total{task=\"archive\"} 2\n");
      Throwable failure = host.failure().toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(failure).hasMessageContaining("kafka-streams-application-reset.sh");
    }
  }

  private static <T> void await(String what, Callable<T> current, Predicate<T> wanted) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    T value = current.call();
    while (!wanted.test(value) && System.nanoTime() < deadline) {
      Thread.sleep(20);
      value = current.call();
    }
    assertThat(value).as(what).matches(wanted);
  }
}
