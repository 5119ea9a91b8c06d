package io.lifeline.ksql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.lifeline.codec.BatchWriter;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Runs the scripts on a real ksqlDB: that of LIFELINE_KSQL_URL with the brokers of LIFELINE_KSQL_BOOTSTRAP, which must
 * be fresh and have the jar among its extensions, or one in containers. Needs a container engine and images, so {@code
 * scripts/test-containers} runs it.
 */
@Tag("ksqldb")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StandingQueriesTest {

  private static final Path JAR = Path.of(System.getProperty("lifeline.ksql.jar"));
  private static final Path README = Path.of("..", "README.md");
  private static final Duration LONGEST = Duration.ofSeconds(180);
  private static final String EMITTER = "000000000000abcd0000000000000002";

  private final Instant start = Instant.now().truncatedTo(ChronoUnit.MINUTES).minus(2, ChronoUnit.MINUTES);
  private KsqlContainers containers;
  private KsqlServer ksql;
  private String bootstrapServers;

  @BeforeAll
  void applyTheScriptsAndSendEvents() {
    find();
    for (Path file : Migrations.files()) {
      ksql.execute(Migrations.text(file));
    }
    send();
  }

  private void find() {
    String url = System.getenv("LIFELINE_KSQL_URL");
    if (url != null) {
      ksql = new KsqlServer(URI.create(url));
      bootstrapServers = System.getenv().getOrDefault("LIFELINE_KSQL_BOOTSTRAP", "localhost:9092");
      return;
    }
    containers = new KsqlContainers(JAR);
    ksql = new KsqlServer(containers.ksqldb());
    bootstrapServers = containers.bootstrapServers();
  }

  private void send() {
    Map<String, Object> settings = Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
    try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer())) {
      for (BatchWriter batch : new Copy(start.getEpochSecond() * 1_000_000_000).batches()) {
        List<Decoded.Message> messages = Decoded.of(batch);
        producer.send(new ProducerRecord<>("lifeline.batches", messages.get(0).key(), batch.toByteArray()));
        for (Decoded.Message message : messages) {
          byte[] json = message.json().getBytes(StandardCharsets.UTF_8);
          producer.send(new ProducerRecord<>(message.topic(), message.key(), json));
        }
      }
    }
  }

  /** Also tests that the program drops everything: the server has run all queries by then. */
  @AfterAll
  void dropAndStop() throws IOException, InterruptedException {
    try {
      Process drop = new ProcessBuilder(Path.of("..", "drop").toString(), ksql.url().toString()).inheritIO().start();
      assertThat(drop.waitFor()).isZero();
      assertThat(ksql.execute("SHOW QUERIES;").get(0).get("queries")).isEmpty();
      assertThat(ksql.execute("SHOW TABLES;").get(0).get("tables")).isEmpty();
    } finally {
      if (containers != null) {
        containers.close();
      }
    }
  }

  @Test
  void answerTheLatestValueOfAnEmitterByItsKey() {
    String query = "SELECT ts, value, events FROM latest WHERE incarnation = '%s' AND series = '%s';";
    List<JsonNode> rows =
        until(String.format(query, EMITTER, "disk.read.end:nbytes"), row -> row.get(2).asInt() == Copy.BLOCKS);
    assertThat(rows.get(0).get(0).asText()).isEqualTo(start.plusMillis(19_902).toString().replace("902Z", "902000000Z"));
    assertThat(rows.get(0).get(1).asDouble()).isEqualTo(65_536);
  }

  @Test
  void sumUpEverySecond() {
    String query = "SELECT events, least, greatest, total, mean, deviation, p50, p99, windowstart FROM per_second "
        + "WHERE series = 'disk.read:ms' AND windowstart = %d;";
    List<JsonNode> rows =
        until(String.format(query, start.toEpochMilli()), row -> row.get(0).asInt() == 20);
    JsonNode second = rows.get(0);
    assertThat(List.of(second.get(1).asDouble(), second.get(2).asDouble(), second.get(3).asDouble()))
        .containsExactly(2.0, 2.0, 40.0);
    assertThat(second.get(4).asDouble()).isEqualTo(2.0);
    assertThat(second.get(5).asDouble()).isEqualTo(0.0);
    assertThat(second.get(6).asDouble()).isCloseTo(2.0, within(0.02));
    assertThat(second.get(7).asDouble()).isCloseTo(2.0, within(0.02));
  }

  @Test
  void nameTheSlowestOperations() {
    List<JsonNode> rows =
        until("SELECT slowest, operations FROM slow_operations WHERE name = 'disk.read';",
            row -> row.get(1).asInt() == 2 * Copy.BLOCKS);
    JsonNode slowest = rows.get(0).get(0);
    assertThat(slowest).hasSize(5);
    assertThat(slowest.get(0).get("sort_col").asDouble()).isEqualTo(Copy.SLOW_MS + 150);
    assertThat(slowest.get(0).get("col0").asText()).isEqualTo(EMITTER + "/150");
    assertThat(slowest.get(0).get("col1").asText()).isEqualTo("host-2");
    assertThat(slowest.get(4).get("sort_col").asDouble()).isEqualTo(2);
  }

  @Test
  void raiseAlertsAboveALimitThatMayChange() {
    List<JsonNode> rows = untilCount("SELECT operation, ms, max_ms FROM slow_alerts;", Copy.SLOW_BLOCKS.size());
    assertThat(rows).extracting(row -> row.get(1).asDouble()).containsExactly(260.0, 270.0, 280.0, 400.0);
    List<JsonNode> bursts =
        until("SELECT alerts, worst_ms, hosts FROM alert_bursts WHERE name = 'disk.read';", row -> true);
    assertThat(bursts).hasSize(1);
    assertThat(bursts.get(0).toString()).isEqualTo("[3,280.0,[\"host-2\"]]");
  }

  @Test
  void answerTheLatestQueryOfEveryGenerator() {
    List<JsonNode> rows =
        until("SELECT message, rtt FROM generators_latest WHERE generator = 2;", row -> row.get(0).asInt() == 19);
    assertThat(rows.get(0).get(1).asLong()).isEqualTo(1_019_002);
  }

  @Test
  void answerAHistoryQueryOfTheLastMinutes() {
    String query = "SELECT windowstart, messages, rtt FROM generators_history WHERE generator = 1 "
        + "AND windowstart >= %d AND windowstart < %d;";
    long from = start.toEpochMilli();
    List<JsonNode> rows = untilCount(String.format(query, from + 5_000, from + 8_000), 3);
    assertThat(rows).extracting(row -> row.get(2).get(0).asLong()).containsExactly(1_005_001L, 1_006_001L, 1_007_001L);
  }

  @Test
  void answerAContinuousQueryWithAFilterOnContent() {
    List<JsonNode> rows =
        ksql.rows("SELECT generator, rtt FROM generators WHERE generator < 2 AND rtt >= 1019000 EMIT CHANGES;", 2);
    assertThat(rows.toString()).isEqualTo("[[0,1019000], [1,1019001]]");
  }

  @Test
  void republishThroughASecondaryProducer() {
    List<JsonNode> rows =
        untilCount("SELECT generator, message FROM generators_secondary;", Copy.GENERATORS * Copy.MESSAGES);
    assertThat(rows.get(rows.size() - 1).toString()).isEqualTo("[2,19]");
  }

  @Test
  void measureRoundTripsAndTheirParts() {
    String query = "SELECT messages, mean_ns, deviation_ns, worst_ns, prt_ns, pt_ns, srt_ns FROM generators_rtt "
        + "WHERE host = 'host-3' AND windowstart = %d;";
    JsonNode row = until(String.format(query, start.toEpochMilli()), r -> r.get(0).asInt() == 30).get(0);
    assertThat(row.get(1).asDouble()).isCloseTo(1_004_501, within(1e-6));
    assertThat(row.get(2).asDouble()).isCloseTo(2921.38, within(0.01));
    assertThat(row.get(3).asLong()).isEqualTo(1_009_002);
    assertThat(row.get(4).asDouble() + row.get(5).asDouble() + row.get(6).asDouble()).isCloseTo(1_004_501, within(1e-6));
  }

  @Test
  void explodeBatchesOnTheFly() {
    String query = "SELECT LIFELINE_EVENTS(batch)->type AS type, LIFELINE_EVENTS(batch)->id AS id, "
        + "LIFELINE_EVENTS(batch)->fields AS fields FROM lifeline_batches WHERE incarnation = '%s' EMIT CHANGES;";
    List<JsonNode> rows = ksql.rows(String.format(query, EMITTER), 2);
    assertThat(rows).extracting(row -> row.get(0).asText()).containsExactly("disk.read.start", "disk.read.end");
    assertThat(rows).extracting(row -> row.get(1).asText()).containsOnly("0");
    assertThat(rows.get(0).get(2).get("offset").asText()).isEqualTo("0");
    assertThat(rows.get(1).get(2).get("nbytes").asText()).isEqualTo("65536");
  }

  @Test
  void tellWhatIsInABatch() {
    String query = "SELECT LIFELINE_BATCH(batch)->events AS events, LIFELINE_BATCH(batch)->error AS error "
        + "FROM lifeline_batches WHERE incarnation = '%s' EMIT CHANGES LIMIT 1;";
    assertThat(ksql.rows(String.format(query, EMITTER)).toString()).isEqualTo("[[800,null]]");
  }

  /** Users copy queries from the README, so each of them must run. */
  @Test
  void runEveryQueryOfTheReadme() {
    List<String> statements = readmeStatements();
    assertThat(statements).hasSizeGreaterThan(8);
    for (String statement : statements) {
      if (!statement.startsWith("SELECT")) {
        ksql.execute(statement);
      } else if (statement.contains("EMIT CHANGES;")) {
        assertThat(ksql.rows(statement, 1)).as(statement).isNotEmpty();
      } else {
        untilCount(statement, 1);
      }
    }
  }

  /** Returns single queries, but whole blocks of other statements, because a SET applies to the block. */
  private static List<String> readmeStatements() {
    return Pattern.compile("(?s)```sql\n(.*?)```").matcher(Migrations.text(README)).results()
        .map((MatchResult block) -> block.group(1).replaceAll("(?m)^--.*$", ""))
        .flatMap(block -> block.startsWith("SELECT") ? Stream.of(block.split("(?<=;)\\s*\n")) : Stream.of(block))
        .map(String::strip)
        .filter(statement -> !statement.isEmpty())
        .toList();
  }

  /** Polls a query: a standing query fills the table and takes a while to start. */
  private List<JsonNode> until(String query, Predicate<JsonNode> last) {
    return poll(query, rows -> !rows.isEmpty() && last.test(rows.get(rows.size() - 1)));
  }

  private List<JsonNode> untilCount(String query, int count) {
    return poll(query, rows -> rows.size() >= count);
  }

  private List<JsonNode> poll(String query, Predicate<List<JsonNode>> enough) {
    long deadline = System.nanoTime() + LONGEST.toNanos();
    List<JsonNode> rows = ksql.rows(query);
    while (!enough.test(rows) && System.nanoTime() < deadline) {
      pause();
      rows = ksql.rows(query);
    }
    assertThat(enough.test(rows)).as("%s%nanswers %s", query, rows).isTrue();
    return rows;
  }

  private static void pause() {
    try {
      Thread.sleep(500);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for ksqlDB", e);
    }
  }
}
