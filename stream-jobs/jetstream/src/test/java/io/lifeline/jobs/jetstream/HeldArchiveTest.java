package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.archive.ArchiveFeed;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.location.ArchiveSettings;
import io.lifeline.jobs.archive.parquet.ManifestCounts;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A writer that was stopped for longer than its lease still has the archive's lock. */
@Tag("system")
class HeldArchiveTest {

  @TempDir Path directory;

  @Test
  void isWaitedForAndThenWritten() throws Exception {
    NatsServer server = NatsServer.shared();
    Path archive = directory.resolve("archive");
    JobConfig config = JobConfig.load(null, Map.of(), Map.of(
        "broker.url", server.url(), "jobs", "archive", "archive.dir", archive.toString(),
        "archive.roll.interval", "100ms"));
    try (Connection connection = server.connect()) {
      server.createStreams(connection);
      new Emitter(1).publish(connection.jetStream(), 10, true);
      ArchiveWriter stopped = ArchiveSettings.archive(config).open(new ArchiveFeed() {
        @Override
        public void reject(Rejection rejection) {}

        @Override
        public String source(int partition) {
          return null;
        }
      });
      stopped.nextOffset(0);
      try (JetStreamHost host = new JetStreamHost(config, new Metrics())) {
        host.start();
        assertThat(host.health()).isEqualTo(Map.of("archive", "standby"));
        assertThat(host.failure().toCompletableFuture()).isNotDone();
        stopped.abandon();
        long deadline = System.nanoTime() + OutputReader.PATIENCE.toNanos();
        while (!archived(archive).equals(List.of(100L)) && System.nanoTime() < deadline) {
          Thread.sleep(20);
        }
        assertThat(archived(archive)).as("wrong books: archived events").containsExactly(100L);
        assertThat(host.health()).isEqualTo(Map.of("archive", "running"));
      }
    }
  }

  private static List<Long> archived(Path archive) throws Exception {
    return List.copyOf(new ManifestCounts(archive).refresh().values());
  }
}
