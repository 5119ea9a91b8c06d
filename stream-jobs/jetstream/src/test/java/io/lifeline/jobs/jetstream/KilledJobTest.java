package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.lifeline.jobs.archive.parquet.ManifestCounts;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.Message;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Kills the job at random moments while batches arrive. */
@Tag("system")
class KilledJobTest {

  private static final int KILLS = 2;
  private static final int EMITTERS = 8;
  private static final int BATCHES_PER_ROUND = 40;
  private static final int EVENTS_PER_EMITTER = (KILLS + 1) * BATCHES_PER_ROUND * 10;

  @TempDir Path directory;

  @Test
  void givesTheResultsOfARunWithoutAKill() throws Exception {
    NatsServer server = NatsServer.shared();
    try (Connection connection = server.connect()) {
      server.createStreams(connection);
      List<Emitter> emitters = IntStream.range(0, EMITTERS).mapToObj(Emitter::new).toList();
      for (int round = 0; round < KILLS; round++) {
        JobProcess job = startJob(server);
        publish(emitters, connection, false);
        Thread.sleep(300L * (round + 1));
        assertThat(job.isAlive()).as("the job runs when it is killed").isTrue();
        job.kill();
      }
      try (JobProcess job = startJob(server)) {
        publish(emitters, connection, true);
        checkSummaries(connection);
        checkLedger(connection);
        checkEvents(connection);
      }
      assertThat(new ManifestCounts(directory.resolve("archive")).refresh().values())
          .as("wrong books: archived events of each emitter")
          .hasSize(EMITTERS)
          .containsOnly((long) EVENTS_PER_EMITTER);
    }
  }

  /**
   * Checks that every window holds each emitter's hundred values once, and that no revision was published in two
   * versions.
   */
  private static void checkSummaries(Connection connection) throws Exception {
    int windows = EVENTS_PER_EMITTER / 100;
    Map<String, JsonNode> summaries =
        OutputReader.await(
            connection,
            "lifeline.summaries",
            map -> JetStreamHostTest.totalCount(map) == EMITTERS * EVENTS_PER_EMITTER);
    assertThat(summaries).as("wrong books: windows").hasSize(windows);
    for (JsonNode summary : summaries.values()) {
      long first = (summary.get("window_start_ns").longValue() - Emitter.START_NS) / 100_000_000;
      assertThat(summary.get("count").intValue()).as("wrong books: values of a window").isEqualTo(EMITTERS * 100);
      assertThat(summary.get("min").longValue()).isEqualTo(first);
      assertThat(summary.get("max").longValue()).isEqualTo(first + 99);
      assertThat(summary.get("sum").longValue()).as("wrong books: their sum")
          .isEqualTo(EMITTERS * (100 * first + 4950));
    }
    Map<String, String> contentById = new HashMap<>();
    for (Message message : OutputReader.all(connection, "lifeline.summaries")) {
      String content = new String(message.getData());
      assertThat(contentById.put(message.getHeaders().getFirst("Nats-Msg-Id"), content))
          .as("wrong books: an id comes once").isNull();
    }
  }

  private static void checkLedger(Connection connection) throws Exception {
    Map<String, JsonNode> ledger =
        OutputReader.await(
            connection,
            "lifeline.ledger",
            map ->
                map.size() == EMITTERS
                    && map.values().stream().allMatch(value -> value.get("in_flight").intValue() == 0
                        && value.get("archived").intValue() == EVENTS_PER_EMITTER));
    assertThat(ledger).as("wrong books: emitters").hasSize(EMITTERS);
    for (JsonNode balance : ledger.values()) {
      assertThat(balance.get("emitted").intValue()).as("wrong books: %s", balance).isEqualTo(EVENTS_PER_EMITTER);
      assertThat(balance.get("archived").intValue()).as("wrong books: %s", balance).isEqualTo(EVENTS_PER_EMITTER);
      assertThat(balance.get("missing").intValue()).as("wrong books: %s", balance).isZero();
      assertThat(balance.get("duplicated").intValue()).as("wrong books: %s", balance).isZero();
      assertThat(balance.get("repeated_batches").intValue()).as("wrong books: %s", balance).isZero();
    }
  }

  private static void checkEvents(Connection connection) throws Exception {
    int expected = EMITTERS * EVENTS_PER_EMITTER;
    long deadline = System.nanoTime() + OutputReader.PATIENCE.toNanos();
    List<Message> events = OutputReader.all(connection, "lifeline.events.disk.read.end");
    while (events.size() < expected && System.nanoTime() < deadline) {
      Thread.sleep(100);
      events = OutputReader.all(connection, "lifeline.events.disk.read.end");
    }
    assertThat(events).as("wrong books: decoded events").hasSize(expected);
  }

  private static void publish(List<Emitter> emitters, Connection connection, boolean isFinal) throws Exception {
    for (Emitter emitter : emitters) {
      emitter.publish(connection.jetStream(), BATCHES_PER_ROUND, isFinal);
    }
  }

  private JobProcess startJob(NatsServer server) throws Exception {
    return JobProcess.start(
        Path.of("target/killed-job.log"),
        "broker.url=" + server.url(),
        "jobs=summarise,archive,ledger,decode",
        "summarise.fields=*:nbytes",
        "decode.types=disk.read.end",
        "archive.dir=" + directory.resolve("archive"),
        "archive.roll.interval=300ms",
        "ledger.interval=200ms",
        "checkpoint.interval=100ms");
  }
}
