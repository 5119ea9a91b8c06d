package io.lifeline.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Kills one of two instances that share the work: the results must equal those of one undisturbed instance. */
@ExtendWith(EmbeddedKafka.Shared.class)
@Tag("system")
@Timeout(value = 300, unit = TimeUnit.SECONDS)
class KilledInstanceTest {

  private static final EventType COPY =
      EventType.named("copy.block")
          .field("nbytes", FieldType.U64, "B")
          .field("delta", FieldType.I32)
          .field("seconds", FieldType.F64, "s")
          .build();
  private static final long START_S = 1_700_000_000L;
  private static final int EMITTERS = 12;
  private static final int BATCHES = 60;
  private static final int EVENTS = 50;
  private static final int FIELDS = 3;
  private static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final ObjectMapper JSON = new ObjectMapper();

  private static EmbeddedKafka kafka;

  @TempDir private Path directory;

  @BeforeAll
  static void takeBroker(EmbeddedKafka shared) {
    kafka = shared;
  }

  /** One pair of processes for all jobs: their start is what takes long. */
  @Test
  void givesTheSummariesOfAnUndisturbedRunAndItsFilterSendsEachBatchOnce() throws Exception {
    kafka.createTopics(4, "copies.batches", "shared.summaries", "shared.rejected");
    kafka.createTopics(1, "alone.summaries", "alone.rejected");
    List<String> settings = settings("shared", "summarise,filter,pair");
    settings.add("filter.all=nbytes >= 0");
    try (JobProcess killed = JobProcess.start(directory.resolve("killed.log"), settings);
        JobProcess survivor = JobProcess.start(directory.resolve("survivor.log"), settings)) {
      while (!killed.sharesTheWork() || !survivor.sharesTheWork()) {
        Thread.sleep(50);
      }
      publish(0, BATCHES / 2);
      killed.kill();
      publish(BATCHES / 2, BATCHES);
      Map<String, JsonNode> shared = summaries("shared.summaries");
      kafka.read("shared.derived.all", EMITTERS * BATCHES, PATIENCE);
      kafka.awaitEndReached("shared-jobs", "copies.batches");
      assertSame(shared, undisturbed());
    }
    List<String> ids =
        kafka.readAll("shared.derived.all").stream()
            .map(message -> new String(message.headers().lastHeader("lifeline-id").value(), UTF_8))
            .toList();
    assertThat(ids).as("wrong books: batches of the filter").hasSize(EMITTERS * BATCHES).doesNotHaveDuplicates();
    assertThat(ids).filteredOn(id -> id.endsWith("-0-" + BATCHES)).as("wrong books: the last batch of each emitter")
        .hasSize(EMITTERS);
  }

  private static Map<String, JsonNode> undisturbed() throws Exception {
    Map<String, String> settings = new HashMap<>();
    for (String setting : settings("alone", "summarise")) {
      String[] pair = setting.split("=", 2);
      settings.put(pair[0], pair[1]);
    }
    try (KafkaHost host = new KafkaHost(JobConfig.load(null, Map.of(), settings), new Metrics())) {
      host.start();
      return summaries("alone.summaries");
    }
  }

  private static List<String> settings(String prefix, String jobs) {
    return new ArrayList<>(List.of(
        "broker.url=" + kafka.url() + "/copies.batches",
        "names.prefix=" + prefix,
        "jobs=" + jobs,
        "summarise.by=type,host",
        "checkpoint.interval=100ms",
        "kafka.session.timeout.ms=2000",
        "kafka.heartbeat.interval.ms=500",
        "kafka.transaction.timeout.ms=3000"));
  }

  /** Each emitter's batches from one number to another; a batch's events span a second. */
  private static void publish(int from, int to) throws Exception {
    for (int number = from; number < to; number++) {
      for (int emitter = 1; emitter <= EMITTERS; emitter++) {
        kafka.send("copies.batches", new Incarnation(0, emitter).toString(), batch(emitter, number));
      }
    }
  }

  private static byte[] batch(int emitter, int number) {
    Random random = new Random(31L * emitter + number);
    long second = (START_S + number) * 1_000_000_000;
    BatchWriter writer =
        new BatchWriter()
            .incarnation(new Incarnation(0, emitter))
            .sequence(number + 1)
            .host("host-" + emitter % 3)
            .program("copy")
            .ticks(second, 1_000_000_000, true)
            .finalBatch(number == BATCHES - 1);
    for (int i = 0; i < EVENTS; i++) {
      long nbytes = random.nextInt(1 << 30);
      writer.event(COPY, second + i * 20_000_000L, nbytes, random.nextInt(), Math.exp(random.nextGaussian()));
    }
    return writer.toByteArray();
  }

  /** Returns the newest revision of every window, once the windows hold every value. */
  private static Map<String, JsonNode> summaries(String topic) throws Exception {
    Map<String, JsonNode> newest = new HashMap<>();
    int read = 0;
    while (newest.values().stream().mapToLong(summary -> summary.get("count").asLong()).sum()
        < (long) FIELDS * EMITTERS * BATCHES * EVENTS) {
      List<ConsumerRecord<String, String>> records = kafka.read(topic, read + 1, PATIENCE);
      read = records.size();
      newest.clear();
      for (ConsumerRecord<String, String> message : records) {
        JsonNode summary = JSON.readTree(message.value());
        JsonNode known = newest.get(message.key());
        if (known == null || known.get("revision").asInt() < summary.get("revision").asInt()) {
          newest.put(message.key(), summary);
        }
      }
    }
    return newest;
  }

  /** The order in which parts of a window are merged varies, so sums of floats differ in their last bits. */
  private static void assertSame(Map<String, JsonNode> shared, Map<String, JsonNode> alone) {
    assertThat(shared.keySet()).as("wrong books: windows").isEqualTo(alone.keySet());
    List<String> exact = new ArrayList<>(List.of("count", "min", "max", "p50", "p90", "p99", "nan"));
    shared.forEach(
        (key, summary) -> {
          JsonNode expected = alone.get(key);
          boolean isInteger = !summary.get("field").asText().equals("seconds");
          exact.forEach(name -> assertThat(summary.get(name)).as("wrong books: " + key + " " + name)
              .isEqualTo(expected.get(name)));
          if (isInteger) {
            assertThat(summary.get("sum")).as("wrong books: " + key + " sum").isEqualTo(expected.get("sum"));
          } else {
            double mean = expected.get("mean").asDouble();
            assertThat(summary.get("mean").asDouble()).as("wrong books: " + key + " mean")
                .isCloseTo(mean, within(1e-12 * mean));
          }
        });
  }
}
