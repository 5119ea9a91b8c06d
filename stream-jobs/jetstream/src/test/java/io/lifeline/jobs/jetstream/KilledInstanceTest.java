package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.KeyValue;
import io.nats.client.Message;
import io.nats.client.api.KeyValueEntry;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Kills one of two instances that share the groups: the results must equal those of one undisturbed instance. */
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
  private static final int GROUPS = 4;
  private static final int EMITTERS = 16;
  private static final int BATCHES = 60;
  private static final int EVENTS = 50;
  private static final int FIELDS = 3;
  private static final long VALUES = (long) FIELDS * EMITTERS * BATCHES * EVENTS;
  private static final List<String> EXACT = List.of("count", "min", "max", "p50", "p90", "p99", "nan");

  @TempDir private Path directory;

  @Test
  void givesTheResultsOfAnUndisturbedRun() throws Exception {
    NatsServer server = NatsServer.shared();
    try (Connection connection = server.connect()) {
      server.createStreams(connection);
      try (JobProcess killed = start(server, "killed");
          JobProcess survivor = start(server, "survivor")) {
        awaitSharing(connection.keyValue("lifeline-jobs"));
        publish(connection, 0, BATCHES / 2);
        killed.kill();
        publish(connection, BATCHES / 2, BATCHES);
        assertSame(awaitSummaries(connection), undisturbed(server, connection));
        assertThat(survivor.isAlive()).isTrue();
      }
    }
  }

  private JobProcess start(NatsServer server, String name) throws Exception {
    return JobProcess.start(
        directory.resolve(name + ".log"),
        "broker.url=" + server.url(),
        "jobs=summarise",
        "summarise.by=type,host",
        "nats.groups=" + GROUPS,
        "nats.lease=2s",
        "checkpoint.interval=100ms");
  }

  /** Waits until two processes hold two groups each. */
  private static void awaitSharing(KeyValue bucket) throws Exception {
    Map<String, Integer> groups = new HashMap<>();
    while (groups.size() != 2 || !Set.copyOf(groups.values()).equals(Set.of(GROUPS / 2))) {
      Thread.sleep(50);
      groups.clear();
      for (int group = 0; group < GROUPS; group++) {
        KeyValueEntry lease = bucket.get("summarise-" + group + "-of-" + GROUPS + ".lease");
        if (lease != null) {
          String owner = new String(lease.getValue(), StandardCharsets.UTF_8).split(" ", 2)[1];
          groups.merge(owner, 1, Integer::sum);
        }
      }
    }
  }

  /** Runs one instance with one group, with its own output stream. */
  private static Map<String, JsonNode> undisturbed(NatsServer server, Connection connection) throws Exception {
    server.createOutput(connection, "ALONE_OUT", "alone");
    Map<String, String> settings =
        Map.of(
            "broker.url", server.url(),
            "jobs", "summarise",
            "summarise.by", "type,host",
            "names.prefix", "alone",
            "nats.output.stream", "ALONE_OUT",
            "nats.bucket", "alone-jobs",
            "checkpoint.interval", "100ms");
    try (JetStreamHost host = new JetStreamHost(JobConfig.load(null, Map.of(), settings), new Metrics())) {
      host.start();
      Map<String, JsonNode> summaries = Map.of();
      while (count(summaries) < VALUES) {
        Thread.sleep(100);
        summaries = OutputReader.latest(connection, "ALONE_OUT", "alone.summaries");
      }
      return summaries;
    }
  }

  /** Also checks that each message ID was published only once. */
  private static Map<String, JsonNode> awaitSummaries(Connection connection) throws Exception {
    Map<String, JsonNode> summaries =
        OutputReader.await(connection, "lifeline.summaries", map -> count(map) == VALUES);
    assertThat(count(summaries)).as("wrong books: values in summaries").isEqualTo(VALUES);
    Set<String> ids = new HashSet<>();
    for (Message message : OutputReader.all(connection, "lifeline.summaries")) {
      assertThat(ids.add(message.getHeaders().getFirst("Nats-Msg-Id"))).as("wrong books: an id comes once").isTrue();
    }
    return summaries;
  }

  private static long count(Map<String, JsonNode> summaries) {
    return summaries.values().stream().mapToLong(summary -> summary.get("count").asLong()).sum();
  }

  /** Each emitter's batches from one number to another; a batch's events span a second. */
  private static void publish(Connection connection, int from, int to) throws Exception {
    for (int number = from; number < to; number++) {
      for (int emitter = 0; emitter < EMITTERS; emitter++) {
        String subject = "lifeline.batches." + NatsSettings.subject(new Incarnation(1, emitter));
        connection.jetStream().publish(subject, batch(emitter, number));
      }
    }
  }

  private static byte[] batch(int emitter, int number) {
    Random random = new Random(31L * emitter + number);
    long second = (START_S + number) * 1_000_000_000;
    BatchWriter writer =
        new BatchWriter()
            .incarnation(new Incarnation(1, emitter))
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

  /** The order in which parts of a window are merged varies, so sums of floats differ in their last bits. */
  private static void assertSame(Map<String, JsonNode> shared, Map<String, JsonNode> alone) {
    assertThat(shared.keySet()).as("wrong books: windows").isEqualTo(alone.keySet());
    shared.forEach(
        (key, summary) -> {
          JsonNode expected = alone.get(key);
          EXACT.forEach(name -> assertThat(summary.get(name)).as("wrong books: " + key + " " + name)
              .isEqualTo(expected.get(name)));
          if (summary.get("field").asText().equals("seconds")) {
            double mean = expected.get("mean").asDouble();
            assertThat(summary.get("mean").asDouble()).as("wrong books: " + key + " mean")
                .isCloseTo(mean, within(1e-12 * mean));
          } else {
            assertThat(summary.get("sum")).as("wrong books: " + key + " sum").isEqualTo(expected.get("sum"));
          }
        });
  }
}
