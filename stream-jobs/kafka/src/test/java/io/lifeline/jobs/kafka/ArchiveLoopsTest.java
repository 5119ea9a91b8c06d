package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.core.config.JobConfig;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ArchiveLoopsTest {

  private static int count(Map<String, String> settings, int partitions) {
    return ArchiveLoops.count(JobConfig.load(null, Map.of(), settings), partitions);
  }

  @Test
  void thereAreNoMoreLoopsThanPartitions() {
    assertThat(count(Map.of("archive.threads", "8"), 100)).isEqualTo(8);
    assertThat(count(Map.of("archive.threads", "8"), 3)).isEqualTo(3);
    assertThat(count(Map.of(), 1)).isEqualTo(1);
    assertThat(count(Map.of(), 100)).isBetween(1, 4);
    String postgres = "postgresql://db.example/events";
    assertThat(count(Map.of("archive.url", postgres), 100)).isEqualTo(1);
    assertThat(count(Map.of("archive.url", postgres, "archive.threads", "2"), 100)).isEqualTo(2);
  }

  @Test
  void eachPartitionIsReadByOneLoop() {
    List<ArchiveShare> shares = IntStream.range(0, 3).mapToObj(number -> new ArchiveShare(number, 3)).toList();
    for (int i = 0; i < 10; i++) {
      int partition = i;
      assertThat(shares).filteredOn(share -> share.has(partition)).hasSize(1);
    }
    assertThat(shares).extracting(ArchiveShare::name).containsExactly("archive-0", "archive-1", "archive-2");
    assertThat(ArchiveShare.WHOLE.name()).isEqualTo("archive");
  }

  @ParameterizedTest
  @CsvSource({
    "running, running, running",
    "standby, running, running",
    "standby, standby, standby",
    "running, starting, starting",
    "starting, retrying: the disk is full, retrying: the disk is full",
    "failed: it was recreated, standby, failed: it was recreated",
  })
  void theWorstStatusIsThatOfAll(String one, String other, String all) {
    assertThat(ArchiveLoops.worst(List.of(one, other))).isEqualTo(all);
    assertThat(ArchiveLoops.worst(List.of(other, one))).isEqualTo(all);
  }
}
