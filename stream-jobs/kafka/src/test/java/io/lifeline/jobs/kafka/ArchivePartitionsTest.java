package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.jobs.archive.Appended;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Position;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A topic whose begin or end moves past the archive's position. */
class ArchivePartitionsTest {
  private static final TopicPartition PARTITION = new TopicPartition("lifeline.batches", 0);

  @TempDir Path directory;

  private final Metrics metrics = new Metrics();
  private final Topic topic = new Topic();
  private ArchiveWriter archive;
  private ArchivePartitions partitions;

  /** A consumer that reconnects as often as the test says. */
  private static final class Topic extends MockConsumer<byte[], byte[]> {
    private double connections = 1;

    Topic() {
      super("none");
      updatePartitions("lifeline.batches",
          List.of(new PartitionInfo("lifeline.batches", 0, Node.noNode(), new Node[0], new Node[0])));
    }

    void reachesFrom(long start, long end) {
      updateBeginningOffsets(Map.of(PARTITION, start));
      updateEndOffsets(new HashMap<>(Map.of(PARTITION, end)));
    }

    @Override
    public Map<MetricName, ? extends Metric> metrics() {
      MetricName name = new MetricName("connection-creation-total", "consumer-metrics", "", Map.of());
      return Map.of(name, new Metric() {
        @Override
        public MetricName metricName() {
          return name;
        }

        @Override
        public Object metricValue() {
          return connections;
        }
      });
    }
  }

  @BeforeEach
  void archiveThreeMessages() throws Exception {
    ParquetArchive description = new ParquetArchive(ParquetOptions.in(directory).withThreads(1));
    try (ArchiveWriter first = description.open(rejection -> {})) {
      for (int offset = 0; offset < 3; offset++) {
        first.append(new Position(0, offset, 1), message(offset));
      }
    }
    archive = description.open(rejection -> {});
    partitions = new ArchivePartitions(topic, "lifeline.batches", ArchiveShare.WHOLE, archive, metrics);
  }

  @AfterEach
  void close() throws Exception {
    archive.abandon();
  }

  private static byte[] message(long offset) {
    return Batches.reads(1, offset + 1, false, 1000, 1);
  }

  @Test
  void theLastMessageIsReadAgainAtTheStartAndAfterEachConnection() throws Exception {
    topic.reachesFrom(0, 10);
    partitions.takeFree();
    assertThat(topic.position(PARTITION)).isEqualTo(2);
    assertThat(archive.append(new Position(0, 2, 1), message(2))).isEqualTo(Appended.ALREADY_ARCHIVED);
    assertThat(partitions.readAgainAfterConnecting()).as("the first connection").isTrue();
    archive.append(new Position(0, 3, 1), message(3));
    topic.seek(PARTITION, 4);
    assertThat(partitions.readAgainAfterConnecting()).isFalse();
    assertThat(topic.position(PARTITION)).isEqualTo(4);
    topic.connections++;
    assertThat(partitions.readAgainAfterConnecting()).isTrue();
    assertThat(topic.position(PARTITION)).as("also what is not stored yet is compared").isEqualTo(3);
    assertThatThrownBy(() -> archive.append(new Position(0, 3, 1), message(7))).isInstanceOf(ArchiveException.class)
        .hasMessageContaining("the message before it has been replaced");
  }

  @Test
  void aTopicThatEndsBeforeTheArchiveIsRefusedAlsoWhenItHasGrown() throws Exception {
    topic.reachesFrom(0, 2);
    assertThatThrownBy(partitions::takeFree).isInstanceOf(ArchiveException.class)
        .hasMessageContaining("it has read up to offset 3, but the source ends at offset 2 now");
    archive.abandon();
    topic.reachesFrom(0, 100);
    archive = new ParquetArchive(ParquetOptions.in(directory).withThreads(1)).open(rejection -> {});
    assertThatThrownBy(() -> archive.nextOffset(0)).isInstanceOf(ArchiveException.class)
        .hasMessageContaining("lifeline-jobs resume");
  }

  @Test
  void aPartitionWhoseLossIsAcceptedHoldsUpNoOther() throws Exception {
    topic.reachesFrom(0, 2);
    assertThatThrownBy(partitions::takeFree).isInstanceOf(ArchiveException.class);
    archive.abandon();
    ParquetArchive description = new ParquetArchive(ParquetOptions.in(directory).withThreads(1));
    assertThat(description.resume(true)).hasSize(1);
    topic.assign(List.of()); // the jobs start again
    archive = description.open(rejection -> {});
    partitions = new ArchivePartitions(topic, "lifeline.batches", ArchiveShare.WHOLE, archive, metrics);
    partitions.takeFree();
    assertThat(topic.position(PARTITION)).isEqualTo(2);
    assertThat(archive.append(new Position(0, 2, 1), message(7))).isEqualTo(Appended.ALREADY_ARCHIVED);
    assertThat(archive.append(new Position(0, 3, 1), message(8))).isEqualTo(Appended.ACCEPTED);
  }

  @Test
  void messagesThatExpireBeforeTheyAreReadCountOnce() throws Exception {
    topic.reachesFrom(0, 3);
    partitions.takeFree();
    topic.reachesFrom(50, 50);
    for (int i = 0; i < 2; i++) {
      partitions.readAgain();
      assertThat(topic.position(PARTITION)).isEqualTo(50);
      assertThat(metrics.text()).contains("lifeline_expired_total{task=\"archive\"} 47");
    }
    topic.reachesFrom(60, 70);
    partitions.readAgain();
    assertThat(metrics.text()).contains("lifeline_expired_total{task=\"archive\"} 57");
  }
}
