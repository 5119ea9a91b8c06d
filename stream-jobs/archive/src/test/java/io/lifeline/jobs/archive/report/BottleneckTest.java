package io.lifeline.jobs.archive.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchReader;
import io.lifeline.jobs.archive.sql.ArchiveDatabase;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Output;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.bottleneck.BottleneckJob;
import io.lifeline.jobs.core.bottleneck.BottleneckSettings;
import io.lifeline.jobs.core.config.JobConfig;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BottleneckTest {
  private static final long SLOW_NS = 400_000;

  /** The copy takes less than a second, hence the short intervals. */
  private static final Report.Selection LIVE = new Report.Selection(null, null, BottleneckSettings.of(
      JobConfig.load(null, Map.of(), Map.of("bottleneck.interval", "10ms", "bottleneck.hold", "50ms"))));

  private static final long LONG_AFTER_MS = 4_000_000_000_000L;

  @TempDir Path directory;

  private final CopySimulation copy = new CopySimulation(1_000);

  private Report answer() throws Exception {
    copy.archive(directory);
    try (ArchiveDatabase database = ArchiveDatabase.open(directory)) {
      return Report.of(database, null);
    }
  }

  /** The job and the report judge by the same rule: for the same events and settings they give the same answer. */
  private void assertBothName(String slow, Report.Selection... selections) throws Exception {
    assertThat(live()).isEqualTo(slow);
    copy.archive(directory);
    try (ArchiveDatabase database = ArchiveDatabase.open(directory)) {
      for (Report.Selection selection : selections) {
        Report report = Report.of(database, selection, null);
        assertThat(report.component() == null ? "none" : report.component()).as(report.sentence()).isEqualTo(slow);
      }
    }
  }

  /** Returns the bottleneck that the job names at the end. */
  private String live() throws Exception {
    TreeSet<String> on = new TreeSet<>();
    BottleneckJob job = new BottleneckJob(LIVE.settings(), new MemoryState(), new Metrics());
    Output output =
        (to, key, id, value) -> {
          String component = key.substring(key.lastIndexOf(':') + 1);
          if (id.endsWith(":on")) {
            on.add(component);
          } else {
            on.remove(component);
          }
        };
    for (byte[] batch : copy.batches()) {
      job.accept(new BatchReader().read(batch, 0, batch.length), new Position(0, 0, LONG_AFTER_MS), output);
    }
    job.punctuate(LONG_AFTER_MS + 5_000, output); // before it is silent for so long that its group ends
    return on.isEmpty() ? "none" : String.join("+", on);
  }

  @ParameterizedTest
  @CsvSource({"8, 2, 4", "2, 1, 1", "64, 1, 2", "4, 16, 64", "3, 40, 1"})
  void aSlowDiskAtTheReceiverIsNamedHoweverDeepTheQueues(int queue, int sendBuffer, int receiveBuffer)
      throws Exception {
    copy.queueBlocks = queue;
    copy.sendBufferBlocks = sendBuffer;
    copy.receiveBufferBlocks = receiveBuffer;
    copy.writeNs = CopySimulation.around(SLOW_NS, 7);
    assertBothName("disk-write", Report.Selection.ALL, LIVE);
  }

  @ParameterizedTest
  @CsvSource({"8, 2, 4", "2, 1, 1", "64, 1, 2", "4, 16, 64", "3, 40, 1"})
  void aSlowNetworkIsNamedHoweverDeepTheQueues(int queue, int sendBuffer, int receiveBuffer) throws Exception {
    copy.queueBlocks = queue;
    copy.sendBufferBlocks = sendBuffer;
    copy.receiveBufferBlocks = receiveBuffer;
    copy.networkNs = CopySimulation.around(SLOW_NS, 7);
    assertBothName("network", Report.Selection.ALL, LIVE);
  }

  @ParameterizedTest
  @CsvSource({"8, 2, 4", "2, 1, 1", "64, 1, 2", "4, 16, 64", "3, 40, 1"})
  void aSlowDiskAtTheSenderIsNamedHoweverDeepTheQueues(int queue, int sendBuffer, int receiveBuffer)
      throws Exception {
    copy.queueBlocks = queue;
    copy.sendBufferBlocks = sendBuffer;
    copy.receiveBufferBlocks = receiveBuffer;
    copy.readNs = CopySimulation.around(SLOW_NS, 7);
    assertBothName("disk-read", Report.Selection.ALL, LIVE);
  }

  @ParameterizedTest
  @CsvSource({"8, 2, 4", "2, 1, 1", "64, 1, 2", "4, 16, 64"})
  void nothingIsNamedWhenAllAreAsFastHoweverDeepTheQueues(int queue, int sendBuffer, int receiveBuffer)
      throws Exception {
    copy.queueBlocks = queue;
    copy.sendBufferBlocks = sendBuffer;
    copy.receiveBufferBlocks = receiveBuffer;
    assertBothName("none", LIVE);
  }

  @Test
  void aWriterWithoutAQueueIsRecognisedByWhatLiesUnreadInTheSocket() throws Exception {
    copy.queueBlocks = 1;
    copy.writeNs = CopySimulation.around(SLOW_NS, 7);
    assertThat(answer().component()).isEqualTo("disk-write");
  }

  @Test
  void aStageThatIsSlowOnlyByFitsIsStillNamed() throws Exception {
    Random random = new Random(5);
    copy.writeNs = block -> random.nextInt(50) == 0 ? 20_000_000 : 60_000;
    Report answer = answer();
    assertThat(answer.component()).as(answer.sentence()).isEqualTo("disk-write");
  }

  @ParameterizedTest
  @CsvSource({"DISK_READ", "NETWORK", "DISK_WRITE"})
  void aStageThatTakesTwiceAsLongAsTheOthersIsNamed(Stage slow) throws Exception {
    switch (slow) {
      case DISK_READ -> copy.readNs = CopySimulation.around(200_000, 7);
      case NETWORK -> copy.networkNs = CopySimulation.around(200_000, 7);
      default -> copy.writeNs = CopySimulation.around(200_000, 7);
    }
    Report answer = answer();
    assertThat(answer.component()).as(answer.sentence()).isEqualTo(slow.label());
  }

  @Test
  void stagesOfEqualSpeedGiveNoAnswer() throws Exception {
    Report answer = answer();
    assertThat(answer.component()).as(answer.sentence()).isNull();
    assertThat(answer.sentence()).startsWith("none (").contains(" are about as busy; use: ");
  }

  @Test
  void aBottleneckThatMovesHalfWayIsNamedWithTheEarlierOne() throws Exception {
    copy.readNs = block -> block < copy.blocks / 2 ? SLOW_NS : 50_000;
    copy.writeNs = block -> block < copy.blocks / 2 ? 50_000 : SLOW_NS;
    Report answer = answer();
    assertThat(answer.component()).as(answer.sentence()).isEqualTo("disk-write");
    assertThat(answer.sentence()).contains("; earlier: disk-read from ", "; since ");
    assertThat(answer.share(Stage.DISK_READ)).isBetween(0.45, 0.7);
    assertThat(answer.share(Stage.DISK_WRITE)).isBetween(0.45, 0.7);
  }

  @Test
  void fewBlocksGiveNoAnswer() throws Exception {
    CopySimulation few = new CopySimulation(3);
    few.archive(directory);
    try (ArchiveDatabase database = ArchiveDatabase.open(directory)) {
      assertThat(Report.of(database, null).sentence()).startsWith("none (too few samples; use: ");
    }
  }

  @Test
  void clocksThatDifferDoNotChangeTheAnswer() throws Exception {
    copy.writeNs = CopySimulation.around(SLOW_NS, 7);
    copy.receiverClockSkewNs = -30_000_000;
    assertThat(answer().component()).isEqualTo("disk-write");
  }

  @Test
  void theChanceOfErrorIsSmallWhenTheTruthIsClear() throws Exception {
    copy.networkNs = CopySimulation.around(SLOW_NS, 7);
    assertThat(answer().bottlenecks()).singleElement()
        .satisfies(answer -> assertThat(answer.answer().chance()).isLessThan(1e-4));
  }
}
