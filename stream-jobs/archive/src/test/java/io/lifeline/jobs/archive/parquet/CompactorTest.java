package io.lifeline.jobs.archive.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.Appended;
import io.lifeline.jobs.archive.ArchiveCollisionException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.sql.ArchiveDatabase;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.RouteKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CompactorTest {
  private static final Incarnation EMITTER = new Incarnation(7, 8);
  private static final EventType RARE =
      EventType.named("rare").field("id", FieldType.STRING).field("x", FieldType.F64).build();
  private static final EventType OTHER = EventType.named("other").field("n", FieldType.I64).build();
  private static final List<String> QUESTIONS = List.of(
      "SELECT count(*), count(DISTINCT serial), sum(serial) FROM \"test.serial\"",
      "SELECT id, x FROM rare ORDER BY ts", "SELECT n FROM other ORDER BY ts",
      "SELECT type, count(*), count(DISTINCT sequence) FROM events GROUP BY type ORDER BY type",
      "SELECT * FROM ledger", "SELECT count(*), sum(events) FROM batches");

  @TempDir static Path templates;
  @TempDir Path directory;

  private ParquetOptions options() {
    return options(directory);
  }

  private static ParquetOptions options(Path directory) {
    return ParquetOptions.in(directory).withThreads(1).withRareRows(50);
  }

  private void archive(int rolls) throws Exception {
    Archives.add(directory, templates, String.valueOf(rolls), archive -> archive(archive, rolls));
  }

  private static void archive(Path directory, int rolls) throws Exception {
    try (ArchiveWriter writer = new ParquetArchive(options(directory)).open(rejection -> {})) {
      for (int i = 0; i < rolls; i++) {
        long sequence = writer.nextOffset(0) + 1;
        BatchWriter batch = Archives.batch(EMITTER, sequence).event(RARE, sequence, "id " + sequence, sequence / 4.0);
        if (i % 2 == 0) {
          batch.event(OTHER, sequence, sequence);
        }
        for (int n = 0; n < (i == 1 ? 10 : 100); n++) {
          batch.event(Archives.SERIAL, n, sequence * 1_000 + n, 1);
        }
        writer.append(Archives.at(sequence - 1), batch.toByteArray());
        writer.roll();
      }
    }
  }

  private List<List<String>> answers() throws Exception {
    return Archives.query(directory, QUESTIONS);
  }

  private Compactor compactor(Duration grace) {
    return new Compactor(options(), 1 << 30, grace);
  }

  private long count(String folder) throws Exception {
    try (Stream<Path> files = Files.list(directory.resolve(folder))) {
      return files.filter(file -> !file.toString().endsWith(".end")).count();
    }
  }

  @Test
  void aCompactedArchiveGivesTheSameAnswersFromFewFiles() throws Exception {
    archive(6);
    List<List<String>> before = answers();
    Compactor.Result result = compactor(Duration.ofHours(1)).compact();
    assertThat(result).isEqualTo(new Compactor.Result(6, 1, 17, 3, 0, List.of()));
    assertThat(answers()).isEqualTo(before);
    assertThat(new ManifestCounts(directory).refresh())
        .isEqualTo(Map.of(new RouteKey(EMITTER, 0), 6 + 3 + 5 * 100 + 10L));
  }

  @Test
  void replacedFilesAreDeletedAfterTheGracePeriodAndNotBefore() throws Exception {
    archive(4);
    long files = count("data");
    compactor(Duration.ofHours(1)).compact();
    assertThat(count("data")).isEqualTo(files + 3);
    assertThat(count("manifests")).isEqualTo(5);
    assertThat(compactor(Duration.ofHours(1)).compact().filesDeleted()).isZero();
    archive(1);
    compactor(Duration.ofHours(1)).compact();
    assertThat(count("manifests")).as("those of both compactions").isEqualTo(7);
    int replaced = (int) count("data") - 3;
    assertThat(compactor(Duration.ZERO).compact().filesDeleted()).isEqualTo(replaced);
    assertThat(count("data")).isEqualTo(3);
    assertThat(count("manifests")).isEqualTo(1);
  }

  @Test
  void aReaderThatOpenedTheArchiveBeforeIsNotDisturbed() throws Exception {
    archive(4);
    try (ArchiveDatabase database = ArchiveDatabase.open(directory)) {
      archive(2);
      compactor(Duration.ofHours(1)).compact();
      for (String sql : List.of("SELECT count(*) FROM events", "SELECT sum(archived) FROM ledger")) {
        try (ResultSet row = database.prepare(sql).executeQuery()) {
          row.next();
          assertThat(row.getLong(1)).as(sql).isEqualTo(4 + 2 + 3 * 100 + 10L);
        }
      }
    }
  }

  @Test
  void aReadingThatCompactionsDisturbIsRepeatedUntilItIsWhole() throws Exception {
    archive(2);
    int disturbances = 8;
    AtomicInteger left = new AtomicInteger(disturbances);
    Map<String, Manifest> read = Manifests.readByName(new ArchiveDirectory(directory), new HashMap<>(), manifest -> {
      if (left.getAndDecrement() > 0) {
        try {
          archive(1);
          compactor(Duration.ZERO).compact();
        } catch (Exception e) {
          throw new AssertionError(e);
        }
      }
      return manifest;
    });
    assertThat(read.values().stream().mapToLong(Manifest::rolls).sum()).isEqualTo(2 + disturbances);
  }

  @Test
  void aWriterGoesOnBehindACompactionAndStillKnowsWhatItHasSeen() throws Exception {
    archive(4);
    compactor(Duration.ZERO).compact();
    try (ArchiveWriter writer = new ParquetArchive(options()).open(rejection -> {})) {
      assertThat(writer.nextOffset(0)).isEqualTo(4);
      byte[] old = Archives.batch(EMITTER, 2).event(RARE, 1, "again", 0.0).toByteArray();
      assertThat(writer.append(Archives.at(4), old)).isEqualTo(Appended.DUPLICATE);
    }
    archive(3);
    List<List<String>> before = answers();
    assertThat(compactor(Duration.ZERO).compact().manifestsAfter()).isEqualTo(1);
    assertThat(answers()).isEqualTo(before);
  }

  @Test
  void aWriterThatSleptThroughACompactionCannotPublishItsOldRange() throws Exception {
    archive(1);
    try (ArchiveWriter sleeper = new ParquetArchive(options()).open(rejection -> {})) {
      sleeper.append(Archives.at(1), Archives.serials(new Incarnation(1, 1), 1, 10));
      Files.delete(directory.resolve("locks/partition-0"));
      archive(2);
      compactor(Duration.ZERO).compact();
      assertThatThrownBy(sleeper::roll).isInstanceOf(ArchiveCollisionException.class);
      sleeper.abandon();
    }
    assertThat(Archives.query(directory, "SELECT count(*) FROM batches")).containsExactly("3");
  }

  @Test
  void largeFilesAreKeptAndOnlyTheirManifestsMerged() throws Exception {
    archive(4);
    List<List<String>> before = answers();
    Compactor small = new Compactor(options(), 1, Duration.ZERO);
    assertThat(small.compact()).isEqualTo(new Compactor.Result(4, 1, 11, 11, 0, List.of()));
    assertThat(small.compact().filesDeleted()).isZero();
    assertThat(answers()).isEqualTo(before);
  }

  @Test
  void twoCompactionsAtOnceAreAClearError() throws Exception {
    archive(2);
    Compactor second = compactor(Duration.ZERO);
    Throwable[] failure = new Throwable[1];
    new Compactor(options(), 1 << 30, Duration.ZERO, step -> {
      if (step == PublicationStep.FILES_WRITTEN) {
        failure[0] = catchThrowable(second::compact);
      }
    }).compact();
    assertThat(failure[0]).isInstanceOf(ArchiveCollisionException.class)
        .hasMessageContaining("the compaction of the archive");
  }

  @Test
  void aDamagedFileKeepsOnlyItsOwnRollFromBeingMerged() throws Exception {
    archive(5);
    Path rotten = directory.resolve("data").resolve(
        Manifests.read(new ArchiveDirectory(directory)).get(2).files().get(0).name());
    byte[] bytes = Files.readAllBytes(rotten);
    bytes[bytes.length / 2] ^= 1;
    Files.write(rotten, bytes);
    Compactor.Result result = compactor(Duration.ZERO).compact();
    assertThat(result.damages()).singleElement().asString()
        .contains(rotten.getFileName().toString(), "restore it from a backup");
    assertThat(result.manifestsAfter()).as("those before and those after it").isEqualTo(3);
  }

  @Test
  void whatAMergedFileWasMadeOfIsKeptWhenThatFileIsLost() throws Exception {
    archive(2);
    long files = count("data");
    compactor(Duration.ZERO).compact();
    String lost = Manifests.read(new ArchiveDirectory(directory)).get(0).files().get(0).name();
    Files.delete(directory.resolve("data").resolve(lost));
    archivePartition1();
    Compactor.Result result = compactor(Duration.ZERO).compact();
    assertThat(result.damages()).singleElement().asString().contains(lost);
    assertThat(result).extracting("manifestsAfter", "filesDeleted").containsExactly(2, 0);
    assertThat(count("data")).isGreaterThan(files);
  }

  private void archivePartition1() throws Exception {
    try (ArchiveWriter writer = new ParquetArchive(options()).open(rejection -> {})) {
      for (int i = 0; i < 2; i++) {
        writer.append(new Position(1, i, 1_790_000_000_000L), Archives.serials(new Incarnation(1, 1), i + 1, 10));
        writer.roll();
      }
    }
  }

  @Test
  void aCompactionDoesNotHideThatALaterManifestGotLost() throws Exception {
    archive(2);
    new Compactor(options(), 1 << 30, Duration.ZERO, step -> {
      if (step == PublicationStep.FILES_WRITTEN) {
        try {
          archive(1);
        } catch (Exception e) {
          throw new AssertionError(e);
        }
      }
    }).compact();
    Files.delete(directory.resolve("manifests/0-00000000000000000002.json"));
    assertThatThrownBy(this::answers).hasMessageContaining("has lost the last manifests of partition 0");
  }

  /** Simulates a crash: no code after it runs. */
  private static final class Death extends Error {}

  @ParameterizedTest
  @EnumSource(PublicationStep.class)
  void aCompactionThatDiesAtAnyStepChangesNoAnswerAndTheNextOneFinishes(PublicationStep step) throws Exception {
    archive(4);
    List<List<String>> before = answers();
    Compactor dying = new Compactor(options(), 1 << 30, Duration.ZERO, now -> {
      if (now == step) {
        throw new Death();
      }
    });
    assertThatThrownBy(dying::compact).isInstanceOf(Death.class);
    assertThat(answers()).isEqualTo(before);
    compactor(Duration.ZERO).compact();
    compactor(Duration.ZERO).compact();
    assertThat(answers()).isEqualTo(before);
    assertThat(count("manifests")).isEqualTo(1);
    assertThat(count("data")).isEqualTo(3);
  }
}
