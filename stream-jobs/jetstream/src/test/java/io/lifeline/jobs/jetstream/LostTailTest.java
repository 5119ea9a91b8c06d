package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A broker that loses its last messages and keeps its stream, as after a power failure or a restore from a backup. */
@Tag("system")
class LostTailTest {

  /** Its data. Other streams, such as the checkpoints, are synced at other times. */
  private static final String STREAM = "jetstream/$G/streams/LIFELINE";

  @TempDir Path directory;

  @Test
  void messagesThatReplaceLostOnesAreNotSkippedSilently() throws Exception {
    try (NatsServer server = NatsServer.start(directory.resolve("broker"))) {
      try (Connection connection = server.connect()) {
        server.createStreams(connection);
        new Emitter(1).publish(connection.jetStream(), 5, true);
      }
      server.kill();
      server.saveData(STREAM, directory.resolve("backup"));
      server.start();
      Metrics metrics = new Metrics();
      try (JetStreamHost host = start(server, metrics)) {
        publish(server, 2, 10);
        await(() -> metrics.text().contains("lifeline_events_total{task=\"archive\"} 150"));
        await(() -> metrics.text().contains("lifeline_next_position{task=\"ledger\"} 16"));
      }
      Metrics again = new Metrics();
      try (JetStreamHost host = start(server, again)) {
        await(() -> again.text().contains("lifeline_next_position{task=\"archive\"} 16")
            && again.text().contains("lifeline_next_position{task=\"ledger\"} 16"));
        server.kill();
        server.restoreData(STREAM, directory.resolve("backup"));
        server.start();
        publish(server, 3, 20);
        awaitRefusal(host);
      }
      for (int restart = 0; restart < 2; restart++) {
        try (JetStreamHost host = start(server, new Metrics())) {
          awaitRefusal(host);
        }
      }
    }
  }

  private static void publish(NatsServer server, int emitter, int batches) throws Exception {
    try (Connection connection = server.connect()) {
      new Emitter(emitter).publish(connection.jetStream(), batches, true);
    }
  }

  private static void awaitRefusal(JetStreamHost host) throws Exception {
    await(() -> host.health().get("archive").contains("is not written any more")
        && host.health().get("ledger").contains("lost its last messages"));
    assertThat(host.health().get("archive")).contains("run 'lifeline-jobs resume' on the archive");
  }

  private JetStreamHost start(NatsServer server, Metrics metrics) throws Exception {
    JetStreamHost host = new JetStreamHost(JobConfig.load(null, Map.of(), Map.of("broker.url", server.url(), "jobs",
        "archive,ledger", "archive.dir", directory.resolve("archive").toString(), "archive.roll.interval", "100ms",
        "checkpoint.interval", "100ms")), metrics);
    host.start();
    return host;
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + OutputReader.PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
      Thread.sleep(20);
    }
  }
}
