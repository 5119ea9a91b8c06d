package io.lifeline.connect.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.archive.sql.ArchiveDatabase;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.runtime.rest.errors.ConnectRestException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The archive sink in a real Connect cluster, with Parquet behind it. */
class ArchiveSinkTest extends ArchiveSinkInConnect {

  @TempDir Path directory;

  private Path archive() {
    return directory.resolve("archive");
  }

  @Override
  Map<String, String> place() {
    return Map.of("archive.dir", archive().toString());
  }

  @Override
  long events() throws IOException {
    return new ParquetArchive(ParquetOptions.in(archive())).counts().count().values().stream()
        .mapToLong(Long::longValue).sum();
  }

  @Test
  void eachBatchIsArchivedOnceThroughRepeatsRestartsAndRebalances() throws Exception {
    run(settings("tasks.max", "1"));
    sendSerials(1, 50);
    awaitEvents(3 * 50 * Batches.EVENTS);

    sendSerials(31, 100); // twenty of each emitter came before
    connect.restartConnectorAndTasks(name, false, true, false);
    sendSerials(101, 150);
    connect.configureConnector(name, settings("tasks.max", "3"));
    sendSerials(151, 200);

    awaitEvents(3 * 200 * Batches.EVENTS);
    assertThat(query("SELECT count(DISTINCT (emitter, serial)) FROM \"test.serial\"")).as("wrong books: serials")
        .isEqualTo("6000");
    assertThat(query("SELECT count(*) FROM batches")).as("wrong books: batches").isEqualTo("600");
  }

  @Test
  void theGroupsOffsetsFollowWhatIsStored() throws Exception {
    run(settings());
    sendSerials(1, 20);
    awaitEvents(3 * 20 * Batches.EVENTS);
    await(
        "the offsets to follow",
        () ->
            connect.connectorOffsets(name).offsets().stream()
                .allMatch(offset -> "20".equals(String.valueOf(offset.offset().get("kafka_offset")))));
  }

  @Test
  void aRejectedRecordGoesToTheDeadLetterQueueAndTheRestIsArchived() throws Exception {
    String deadLetters = name + ".dead";
    connect.kafka().createTopic(deadLetters, 1);
    run(
        settings(
            "errors.tolerance", "all",
            "errors.deadletterqueue.topic.name", deadLetters,
            "errors.deadletterqueue.topic.replication.factor", "1",
            "errors.deadletterqueue.context.headers.enable", "true"));
    send(0, Batches.serials(1, 1));
    send(0, "no batch".getBytes(StandardCharsets.UTF_8));
    send(0, Batches.serials(1, 1, 5)); // the same sequence with another content
    send(0, null);
    send(0, Batches.serials(1, 2));
    awaitEvents(2 * Batches.EVENTS);

    var rejected = connect.kafka().consume(3, AT_MOST.toMillis(), deadLetters).records(deadLetters).iterator();
    assertThat(reason(rejected.next()))
        .isEqualTo(name + "-0 at offset 1: truncated at byte 8: the message is shorter than a batch without events");
    assertThat(reason(rejected.next())).startsWith(name + "-0 at offset 2: conflict at byte 32: ");
    assertThat(reason(rejected.next())).startsWith(name + "-0 at offset 3: truncated at byte 0: ");
  }

  @Test
  void withoutToleranceARejectedRecordEndsTheTaskAndIsNotPassed() throws Exception {
    run(settings());
    send(0, Batches.serials(1, 1));
    awaitEvents(Batches.EVENTS);
    send(0, "no batch".getBytes(StandardCharsets.UTF_8));
    send(0, Batches.serials(1, 2));
    await("the task to fail", () -> failedTask() != null);
    assertThat(failedTask().trace()).contains(name + "-0 at offset 1: truncated");
    assertThat(events()).isEqualTo(Batches.EVENTS);

    connect.configureConnector(name, settings("errors.tolerance", "all"));
    awaitEvents(2 * Batches.EVENTS);
  }

  @Test
  void aPartitionInOtherHandsIsWaitedFor() throws Exception {
    try (ArchiveWriter other = new ParquetArchive(ParquetOptions.in(archive())).open(rejection -> {})) {
      other.nextOffset(0);
      run(settings());
      sendSerials(1, 10);
      awaitEvents(2 * 10 * Batches.EVENTS);
      assertThat(metric("waiting-partitions")).isEqualTo(1L);
    }
    awaitEvents(3 * 10 * Batches.EVENTS);
  }

  @Test
  void aWriterThatStaysEndsTheTaskInTheEnd() throws Exception {
    try (ArchiveWriter other = new ParquetArchive(ParquetOptions.in(archive())).open(rejection -> {})) {
      other.nextOffset(0);
      run(settings("archive.takeover.timeout.ms", "0"));
      await("the task to fail", () -> failedTask() != null);
      assertThat(failedTask().trace()).contains("partition 0 of the archive", "is in use by another writer");
    }
  }

  @Test
  void aFullDiskIsWaitedOutAndNothingIsLost() throws Exception {
    assumeTrue(exec("mount", "-t", "tmpfs", "-o", "size=2m", "lifeline-test", directory.toString()) == 0,
        "mounting a tmpfs needs privileges");
    try {
      run(settings("archive.retry.backoff.ms", "100"));
      sendSerials(1, 5);
      awaitEvents(3 * 5 * Batches.EVENTS);
      Path ballast = fill(directory);
      sendSerials(6, 400);
      await("a try that fails", () -> metric("retry-total") > 1);
      assertThat(connect.connectorStatus(name).tasks().get(0).state()).isEqualTo("RUNNING");
      Files.delete(ballast);
      awaitEvents(3 * 400 * Batches.EVENTS);
      assertThat(query("SELECT count(DISTINCT (emitter, serial)) FROM \"test.serial\"")).as("wrong books: serials")
        .isEqualTo("12000");
    } finally {
      connect.deleteConnector(name);
      await("the disk to be free", () -> exec("umount", directory.toString()) == 0);
    }
  }

  @Test
  void aTopicThatWasMadeAnewIsNotTakenForTheOldOne() throws Exception {
    aTopicThatWasMadeAnewFailsTheTask(10);
  }

  /** Offsets tell nothing then, but the message before the archive's end differs. */
  @Test
  void neitherIsOneThatIsLonger() throws Exception {
    aTopicThatWasMadeAnewFailsTheTask(30);
  }

  private void aTopicThatWasMadeAnewFailsTheTask(int batches) throws Exception {
    run(settings());
    sendSerials(1, 20);
    awaitEvents(3 * 20 * Batches.EVENTS);
    connect.stopConnector(name);
    connect.kafka().deleteTopic(name);
    await("the topic to be gone", () -> connect.kafka().describeTopics(name).get(name).isEmpty());
    connect.kafka().createTopic(name, PARTITIONS);
    sendSerials(101, 100 + batches);
    connect.resumeConnector(name);
    await("the task to fail", () -> failedTask() != null);
    assertThat(failedTask().trace()).contains("it was recreated, so give it another archive");
  }

  @Test
  void offsetsThatTheArchiveWouldNotFollowAreRefused() throws Exception {
    TopicPartition partition = new TopicPartition(name, 0);
    run(settings());
    sendSerials(1, 20);
    awaitEvents(3 * 20 * Batches.EVENTS);
    connect.stopConnector(name);
    connect.assertions().assertConnectorIsStopped(name, "the connector stops");
    assertThatThrownBy(() -> connect.alterSinkConnectorOffset(name, partition, 5L))
        .isInstanceOf(ConnectRestException.class)
        .hasMessageContaining("goes on with offset 20 of " + partition);
    assertThatThrownBy(() -> connect.resetConnectorOffsets(name)).hasMessageContaining("goes on with offset 20");
    assertThat(connect.alterSinkConnectorOffset(name, partition, 20L)).contains("successfully");
  }

  @Test
  void whatDoesNotFitIsRefusedBeforeItRuns() throws Exception {
    Map<String, String> settings =
        settings("errors.deadletterqueue.topic.name", "dead", "value.converter", JsonConverter.class.getName());
    assertThatThrownBy(() -> connect.configureConnector(name, settings))
        .hasMessageContaining("contains the following 2 error(s)")
        .hasMessageContaining("the dead letter queue is unused: set errors.tolerance=all")
        .hasMessageContaining("the archive needs a batch's bytes");
  }

  @Test
  void whatTheTaskCountsIsAmongTheWorkersMetrics() throws Exception {
    run(settings());
    send(0, Batches.serials(1, 1));
    send(0, Batches.serials(1, 1));
    awaitEvents(Batches.EVENTS);
    await("both to be counted", () -> metric("batch-total") == 1 && metric("duplicate-total") == 1);
    assertThat(metric("rejected-total")).isZero();
  }

  private String query(String sql) throws Exception {
    try (ArchiveDatabase database = ArchiveDatabase.open(archive());
        PreparedStatement query = database.prepare(sql);
        ResultSet rows = query.executeQuery()) {
      rows.next();
      return rows.getString(1);
    }
  }

  private static Path fill(Path disk) throws IOException {
    Path ballast = disk.resolve("ballast");
    try (var out = Files.newOutputStream(ballast)) {
      byte[] block = new byte[4096];
      while (true) {
        out.write(block);
      }
    } catch (IOException e) {
      return ballast;
    }
  }

  private static int exec(String... command) throws Exception {
    try {
      return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start().waitFor();
    } catch (IOException e) {
      return -1;
    }
  }
}
