package io.lifeline.jobs.archive.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchReader;
import io.lifeline.jobs.archive.sql.ArchiveDatabase;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.bottleneck.BottleneckJob;
import io.lifeline.jobs.core.bottleneck.BottleneckSettings;
import io.lifeline.jobs.core.config.JobConfig;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The job and the report judge by the same rule: for the same events and settings they give the same answer. */
class LiveBottleneckTest {
  private static final long SLOW_NS = 400_000;

  /** The copy takes less than a second, hence the short intervals. */
  private static final BottleneckSettings SETTINGS = BottleneckSettings.of(
      JobConfig.load(null, Map.of(), Map.of("bottleneck.interval", "10ms", "bottleneck.hold", "50ms")));

  private static final long LONG_AFTER_MS = 4_000_000_000_000L;

  @TempDir Path directory;

  @ParameterizedTest
  @CsvSource({
    "disk-read, 8, 2, 4", "network, 8, 2, 4", "disk-write, 8, 2, 4", "none, 8, 2, 4",
    "disk-read, 2, 1, 1", "network, 2, 1, 1", "disk-write, 2, 1, 1", "none, 2, 1, 1",
    "disk-read, 64, 1, 2", "network, 64, 1, 2", "disk-write, 64, 1, 2", "none, 64, 1, 2",
    "disk-read, 4, 16, 64", "network, 4, 16, 64", "disk-write, 4, 16, 64", "none, 4, 16, 64",
  })
  void theJobAndTheReportAgree(String slow, int queue, int sendBuffer, int receiveBuffer) throws Exception {
    CopySimulation copy = new CopySimulation(1_000);
    copy.queueBlocks = queue;
    copy.sendBufferBlocks = sendBuffer;
    copy.receiveBufferBlocks = receiveBuffer;
    switch (slow) {
      case "disk-read" -> copy.readNs = CopySimulation.around(SLOW_NS, 7);
      case "network" -> copy.networkNs = CopySimulation.around(SLOW_NS, 7);
      case "disk-write" -> copy.writeNs = CopySimulation.around(SLOW_NS, 7);
      default -> { }
    }
    assertThat(live(copy)).isEqualTo(slow);
    copy.archive(directory);
    try (ArchiveDatabase database = ArchiveDatabase.open(directory)) {
      Report report = Report.of(database, new Report.Selection(null, null, SETTINGS), null);
      assertThat(report.component() == null ? "none" : report.component()).as(report.sentence()).isEqualTo(slow);
    }
  }

  /** Returns the bottleneck that the job names at the end. */
  private static String live(CopySimulation copy) throws Exception {
    TreeSet<String> on = new TreeSet<>();
    BottleneckJob job = new BottleneckJob(SETTINGS, new MemoryState(), new Metrics());
    for (byte[] batch : copy.batches()) {
      BatchReader reader = new BatchReader().read(batch, 0, batch.length);
      job.accept(
          reader,
          new Position(0, 0, LONG_AFTER_MS),
          (to, key, id, value) -> {
            String component = key.substring(key.lastIndexOf(':') + 1);
            if (id.endsWith(":on")) {
              on.add(component);
            } else {
              on.remove(component);
            }
          });
    }
    return on.isEmpty() ? "none" : String.join("+", on);
  }
}
