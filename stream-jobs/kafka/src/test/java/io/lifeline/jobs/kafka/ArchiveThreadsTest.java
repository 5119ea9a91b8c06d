package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.location.ArchiveSettings;
import io.lifeline.jobs.archive.postgres.PostgresOptions;
import io.lifeline.jobs.archive.postgres.PostgresReader;
import io.lifeline.jobs.archive.postgres.PostgresUrl;
import io.lifeline.jobs.archive.sql.ArchiveDatabase;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.ledger.ArchivedEvents;
import io.lifeline.servers.PostgresServer;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Two threads of a host archive the four partitions of a topic on a real broker. */
@ExtendWith(EmbeddedKafka.Shared.class)
@Tag("system")
@Timeout(value = 280, unit = TimeUnit.SECONDS)
class ArchiveThreadsTest {

  private static final int PARTITIONS = 4;
  private static final int EMITTERS = 8;
  private static final int EVENTS = 20;
  private static final int BATCHES = 80;
  private static final Duration PATIENCE = Duration.ofSeconds(180);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static EmbeddedKafka kafka;

  @TempDir private Path directory;
  private final Metrics metrics = new Metrics();
  private final Map<String, String> settings = new HashMap<>();
  private String topic;

  @BeforeAll
  static void takeBroker(EmbeddedKafka shared) {
    kafka = shared;
  }

  private void createTopics(String prefix) throws Exception {
    topic = prefix + ".batches";
    kafka.createTopics(PARTITIONS, topic);
    kafka.createTopics(1, prefix + ".rejected");
    settings.putAll(Map.of("broker.url", kafka.url() + "/" + topic, "names.prefix", prefix, "jobs", "archive",
        "archive.threads", "2", "archive.roll.interval", "100ms"));
  }

  private JobConfig config() {
    return JobConfig.load(null, Map.of(), settings);
  }

  private KafkaHost start() throws Exception {
    KafkaHost host = new KafkaHost(config(), metrics);
    host.start();
    return host;
  }

  /** Returns a batch of reads whose sizes count the emitter's events from 0; the first ones again after a resend. */
  private ProducerRecord<String, byte[]> message(int emitter, int number, long ms) {
    long[] serials = new long[EVENTS];
    for (int i = 0; i < EVENTS; i++) {
      serials[i] = (long) number * EVENTS + i;
    }
    byte[] batch = Batches.reads(emitter, number + 1, false, ms / 1000, serials);
    int partition = BatchPlaces.partition(new Incarnation(0, emitter), PARTITIONS);
    return new ProducerRecord<>(topic, partition, ms, Batches.key(emitter), batch);
  }

  /** Sends the batches of every emitter with these numbers, and some of them twice. */
  private void send(int from, int to, long ms) throws Exception {
    List<ProducerRecord<String, byte[]>> messages = new ArrayList<>();
    for (int number = from; number < to; number++) {
      for (int emitter = 1; emitter <= EMITTERS; emitter++) {
        messages.add(message(emitter, number, ms));
        if (number % 5 == 0) {
          messages.add(message(emitter, number, ms));
        }
      }
    }
    kafka.send(messages);
  }

  private static Map<RouteKey, Long> books(int batches) {
    Map<RouteKey, Long> books = new HashMap<>();
    for (int emitter = 1; emitter <= EMITTERS; emitter++) {
      books.put(new RouteKey(new Incarnation(0, emitter), 0), (long) batches * EVENTS);
    }
    return books;
  }

  private void awaitBooks(int batches) throws Exception {
    try (ArchivedEvents counts = ArchiveSettings.archive(config()).counts()) {
      await("the books", () -> counts.count().equals(books(batches)));
    }
  }

  @Test
  void inParquetEachEventIsStoredOnceThoughTheirProcessIsKilled() throws Exception {
    createTopics("killed.parquet");
    settings.put("archive.dir", directory.resolve("archive").toString());
    isKilledAndRestarted();
    try (ArchiveReader archive = ArchiveDatabase.open(directory.resolve("archive"))) {
      assertEachEventOnce(archive);
    }
  }

  @Test
  void inPostgresEachEventIsStoredOnceThoughTheirProcessIsKilled() throws Exception {
    createTopics("killed.postgres");
    PostgresServer server = PostgresServer.shared();
    settings.putAll(Map.of("archive.url", server.url(), "archive.password.file", server.passwordFile().toString(),
        "archive.schema", "two_threads"));
    isKilledAndRestarted();
    PostgresOptions options = PostgresOptions.at(PostgresUrl.parse(server.url()))
        .withPasswordFile(server.passwordFile()).withSchema("two_threads");
    try (ArchiveReader archive = PostgresReader.open(options)) {
      assertEachEventOnce(archive);
    }
  }

  /** Kills a process while it archives, after both of its threads have stored something, and continues in this one. */
  private void isKilledAndRestarted() throws Exception {
    long now = System.currentTimeMillis();
    send(0, BATCHES / 4, now);
    List<String> arguments =
        settings.entrySet().stream().map(setting -> setting.getKey() + "=" + setting.getValue()).toList();
    JobProcess killed = JobProcess.start(directory.resolve("killed.log"), arguments);
    try {
      awaitBooks(BATCHES / 4);
      send(BATCHES / 4, BATCHES / 2, now);
      send(BATCHES / 2, BATCHES, now);
    } finally {
      killed.kill();
    }
    kafka.send(topic, "broken", new byte[] {1, 2, 3});
    try (KafkaHost host = start()) {
      awaitBooks(BATCHES);
      assertThat(host.health()).containsEntry("archive", "running");
      assertThat(threads()).contains("lifeline-archive-0", "lifeline-archive-1");
      assertThat(kafka.read(settings.get("names.prefix") + ".rejected", 1, PATIENCE)).singleElement()
          .satisfies(rejection -> assertThat(rejection.value()).contains("truncated"));
    }
    assertThat(threads()).noneMatch(name -> name.matches("lifeline-archive-\\d"));
    awaitBooks(BATCHES);
  }

  private static List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream().map(Thread::getName).toList();
  }

  private static void assertEachEventOnce(ArchiveReader archive) throws Exception {
    String all = Long.toString((long) EMITTERS * BATCHES * EVENTS);
    assertThat(row(archive, "SELECT count(*), count(DISTINCT incarnation || '/' || nbytes) FROM \"disk.read.end\""))
        .as("wrong books: events").containsExactly(all, all);
    assertThat(row(archive, "SELECT sum(archived), sum(missing_batches), count(*) FROM ledger"))
        .as("wrong books: ledger").containsExactly(all, "0", Integer.toString(EMITTERS));
  }

  private static List<String> row(ArchiveReader archive, String sql) throws Exception {
    try (var query = archive.prepare(sql); ResultSet row = query.executeQuery()) {
      row.next();
      List<String> cells = new ArrayList<>();
      for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
        cells.add(row.getString(i));
      }
      return cells;
    }
  }

  /** The second host begins when everything is archived, or its retention would begin with the old events' time. */
  @Test
  void oneOfThemMergesAndDropsWhatHasExpiredInAllPartitions() throws Exception {
    createTopics("maintained");
    settings.putAll(Map.of("archive.dir", directory.toString(), "archive.compact", "false"));
    long now = System.currentTimeMillis();
    try (KafkaHost host = start()) {
      send(0, 5, now - Duration.ofDays(3).toMillis());
      awaitBooks(5);
      send(5, 10, now);
      awaitBooks(10);
    }
    settings.putAll(Map.of("archive.compact", "true", "archive.retention", "1d"));
    String kept = Integer.toString(EMITTERS * 5 * EVENTS);
    int batches = 10;
    try (KafkaHost host = start()) {
      await("the expiry", () -> events().equals(kept));
      while (!isMergedEverywhere()) {
        send(batches, ++batches, now);
        awaitBooks(batches); // includes the expired ones
      }
    }
    awaitBooks(batches);
    assertThat(events()).isEqualTo(Integer.toString(EMITTERS * (batches - 5) * EVENTS));
  }

  private String events() throws Exception {
    try (ArchiveReader archive = ArchiveDatabase.open(directory)) {
      return row(archive, "SELECT count(*) FROM events").get(0);
    }
  }

  /** Returns whether each partition has a manifest of several rolls. */
  private boolean isMergedEverywhere() throws IOException {
    Set<Integer> merged = new HashSet<>();
    try (DirectoryStream<Path> manifests = Files.newDirectoryStream(directory.resolve("manifests"), "*.json")) {
      for (Path file : manifests) {
        JsonNode manifest = JSON.readTree(file.toFile());
        if (manifest.get("rolls").asLong() > 1) {
          merged.add(manifest.get("partition").asInt());
        }
      }
    }
    return merged.size() == PARTITIONS;
  }

  private static void await(String what, Callable<Boolean> isReached) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!isReached.call()) {
      assertThat(System.nanoTime()).as("in time: " + what).isLessThan(deadline);
      Thread.sleep(100);
    }
  }
}
