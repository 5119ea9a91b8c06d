package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.archive.location.ArchiveSettings;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.ledger.ArchivedEvents;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.JetStream;
import io.nats.client.api.MessageInfo;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Continues with all that the jobs of an earlier release left on a broker and in an archive, of three emitters with 100
 * events each; see {@code src/test/upgrade/README.md}.
 */
@Tag("system")
class UpgradeTest {
  private static final Path STORED = Path.of("src/test/upgrade/be341dd.tar.gz").toAbsolutePath();
  private static final int EMITTERS = 3;
  private static final long EVENTS = 300;
  private static final int MORE = 10;

  @TempDir Path directory;

  @Test
  void jobsContinueWithTheCheckpointsAndArchivesOfAnEarlierRelease() throws Exception {
    run("tar", "-C", directory.toString(), "-xzf", STORED.toString());
    try (NatsServer server = NatsServer.start(directory.resolve("broker")); Connection connection = server.connect()) {
      Emitter emitter = new Emitter(1);
      emitter.publish(connection.jetStream(), MORE, true);
      for (int sequence = 1; sequence <= EMITTERS; sequence++) {
        repeat(connection, sequence);
      }
      goesOn(JobConfig.load(null, Map.of(), Map.of("broker.url", server.url(), "jobs", "summarise,archive,ledger",
          "archive.dir", directory.resolve("archive").toString(), "archive.roll.interval", "100ms",
          "checkpoint.interval", "100ms")));
    }
  }

  /** A broker repeats what an emitter was not sure of. */
  private static void repeat(Connection connection, long sequence) throws Exception {
    MessageInfo stored = connection.jetStreamManagement().getMessage("LIFELINE", sequence);
    JetStream jetStream = connection.jetStream();
    jetStream.publish(stored.getSubject(), stored.getData());
  }

  private static void goesOn(JobConfig config) throws Exception {
    Metrics metrics = new Metrics();
    Map<RouteKey, Long> before = counts(config);
    assertThat(before.values()).hasSize(EMITTERS).allMatch(events -> events >= EVENTS / EMITTERS);
    try (JetStreamHost host = new JetStreamHost(config, metrics)) {
      host.start();
      await(metrics, host, () -> counts(config).size() == EMITTERS + 1
          && metrics.text().contains("lifeline_duplicates_total{task=\"archive\"} 3\n")
          && metrics.text().contains("lifeline_duplicates_total{task=\"ledger\"} 3\n"));
      assertThat(host.health().values()).allMatch("running"::equals);
    }
    Map<RouteKey, Long> after = counts(config);
    before.forEach((route, events) -> assertThat(after).as("wrong books").containsEntry(route, events));
    assertThat(after.values()).as("wrong books").contains(10L * MORE);
    assertThat(metrics.text()).contains("lifeline_events_total{task=\"archive\"} " + 10 * MORE + "\n")
        .doesNotContain("lifeline_expired_total{task=\"archive\"} 1");
  }

  private static Map<RouteKey, Long> counts(JobConfig config) throws IOException {
    try (ArchivedEvents counts = ArchiveSettings.archive(config).counts()) {
      return counts.count();
    }
  }

  private static void await(Metrics metrics, JetStreamHost host, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + OutputReader.PATIENCE.toNanos();
    while (!condition.call()) {
      assertThat(System.nanoTime()).as(() -> "in time: " + host.health() + "\n" + metrics.text()).isLessThan(deadline);
      Thread.sleep(50);
    }
  }

  private static void run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).inheritIO().start();
    assertThat(process.waitFor()).as(String.join(" ", command)).isZero();
  }
}
