package io.lifeline.connect.plugins;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Compression;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.connect.testing.ConnectCluster;
import io.lifeline.connect.testing.WorkerProcess;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.archive.sql.ArchiveDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two workers in processes of their own with the zip's plugin, which archive one topic; one of them is killed. */
@Tag("system")
class KilledWorkerTest {

  /** What the workers must find in the plugin's folder only; zstd-jni alone is the worker's. */
  private static final Pattern PLUGIN =
      Pattern.compile(
          "/(schemas|stream-jobs|connectors/(archive|common|nats))/|lifeline-|duckdb_jdbc|postgresql-|/jnats-");

  private static final EventType SERIAL =
      EventType.named("test.serial").field("emitter", FieldType.U64).field("serial", FieldType.U64).build();

  private static final Duration ENOUGH = Duration.ofSeconds(180);
  private static final String TOPIC = "killed-archive";
  private static final int PARTITIONS = 4;
  private static final int BATCHES = 400;
  private static final int EVENTS = 10;

  @TempDir static Path directory;

  private final Path archive = directory.resolve("archive");

  @Test
  void eachBatchIsArchivedOnceThoughAWorkerIsKilled() throws Exception {
    for (Path zip : Components.zips()) {
      if (zip.toString().contains("connect-archive")) {
        Components.unpack(zip, directory.resolve("plugins"));
      }
    }
    try (ConnectCluster kafka = ConnectCluster.start(0, Map.of());
        WorkerProcess one = worker("one", kafka);
        WorkerProcess two = worker("two", kafka);
        KafkaProducer<byte[], byte[]> producer = kafka.connect().kafka().createProducer(Map.of())) {
      kafka.connect().kafka().createTopic(TOPIC, PARTITIONS);
      await("both workers", () -> one.get("/connector-plugins").contains("ArchiveSink")
          && two.get("/connector-plugins").contains("ArchiveSink"));
      one.put("/connectors/archive/config", configuration());
      await("a task on each", () -> runsOn(one, one.id()) && runsOn(one, two.id()));
      send(producer, 1, BATCHES / 4);
      await("the first batches", () -> events() == PARTITIONS * EVENTS * BATCHES / 4);

      send(producer, BATCHES / 4 + 1, BATCHES / 2);
      two.kill();
      send(producer, BATCHES / 2 + 1, BATCHES);

      await("all batches", () -> events() >= PARTITIONS * EVENTS * BATCHES);
    }
    assertThat(query("SELECT count(*) FROM \"test.serial\"")).as("wrong books: events")
        .isEqualTo(PARTITIONS * EVENTS * BATCHES);
    assertThat(query("SELECT count(DISTINCT (emitter, serial)) FROM \"test.serial\""))
        .as("wrong books: serials").isEqualTo(PARTITIONS * EVENTS * BATCHES);
  }

  private static WorkerProcess worker(String name, ConnectCluster kafka) throws IOException {
    return WorkerProcess.start(
        directory.resolve(name),
        directory.resolve("plugins"),
        PLUGIN,
        kafka.bootstrapServers(),
        Map.of(
            "session.timeout.ms", "6000",
            "heartbeat.interval.ms", "1000",
            "scheduled.rebalance.max.delay.ms", "0"));
  }

  private String configuration() {
    return """
        {"connector.class": "io.lifeline.connect.archive.ArchiveSink", "tasks.max": "2", "topics": "%s",
         "archive.dir": "%s", "archive.roll.interval.ms": "200", "consumer.override.session.timeout.ms": "6000"}
        """.formatted(TOPIC, archive);
  }

  private static boolean runsOn(WorkerProcess asked, String worker) throws InterruptedException {
    String status = asked.get("/connectors/archive/status");
    String tasks = status.contains("\"tasks\"") ? status.substring(status.indexOf("\"tasks\"")) : "";
    return tasks.contains("\"state\":\"RUNNING\",\"worker_id\":\"" + worker + "\"");
  }

  /** To each partition the batches of an emitter of its own, packed by what the worker has for that. */
  private static void send(KafkaProducer<byte[], byte[]> producer, int first, int last) {
    for (int sequence = first; sequence <= last; sequence++) {
      for (int emitter = 0; emitter < PARTITIONS; emitter++) {
        BatchWriter writer =
            new BatchWriter()
                .incarnation(new Incarnation(0, emitter + 1))
                .sequence(sequence)
                .compression(Compression.ZSTD, 8);
        for (int i = 0; i < EVENTS; i++) {
          long serial = (long) sequence * EVENTS + i;
          writer.event(SERIAL, serial, (long) emitter, serial);
        }
        producer.send(new ProducerRecord<>(TOPIC, emitter, null, writer.toByteArray()));
      }
    }
    producer.flush();
  }

  private long events() throws IOException {
    return new ParquetArchive(ParquetOptions.in(archive)).counts().count().values().stream()
        .mapToLong(Long::longValue)
        .sum();
  }

  private long query(String sql) throws Exception {
    try (ArchiveDatabase database = ArchiveDatabase.open(archive);
        PreparedStatement query = database.prepare(sql);
        ResultSet rows = query.executeQuery()) {
      rows.next();
      return rows.getLong(1);
    }
  }

  private static void await(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + ENOUGH.toNanos();
    while (!condition.call()) {
      assertThat(System.nanoTime()).as("waiting for " + what).isLessThan(deadline);
      Thread.sleep(100);
    }
  }
}
