package io.lifeline.jobs.archive.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.Appended;
import io.lifeline.jobs.archive.ArchiveCollisionException;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.RollOptions;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.jobs.core.RouteKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ParquetArchiveTest {
  private static final Incarnation EMITTER = new Incarnation(0x0123456789abcdefL, 1);
  private static final String SERIALS =
      "SELECT count(*), count(DISTINCT serial), min(serial), max(serial) FROM \"test.serial\"";

  @TempDir Path directory;

  private final List<Rejection> rejections = new ArrayList<>();

  private ArchiveWriter open() throws Exception {
    return new ParquetArchive(ParquetOptions.in(directory).withThreads(1)).open(rejections::add);
  }

  @Test
  void largeConstantsAreHeldOnceAndNotInEveryRow() throws Exception {
    EventType large =
        EventType.named("large")
            .field("n", FieldType.I32)
            .constant("blob", FieldType.BYTES, "", new byte[60_000])
            .build();
    BatchWriter batch = Archives.batch(EMITTER, 1);
    for (int i = 0; i < 100; i++) {
      batch.event(large, i, i);
    }
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), batch.toByteArray());
      assertThat(writer.heldBytes()).as("bounds the memory").isGreaterThan(60_000);
    }
    assertThat(Manifests.read(new ArchiveDirectory(directory)).get(0).files())
        .extracting(Manifest.FileEntry::kind)
        .containsExactly(Manifest.Kind.TYPE, Manifest.Kind.BATCHES);
    assertThat(Archives.query(directory, "SELECT count(*), min(octet_length(blob)) FROM large"))
        .containsExactly("100 60000");
  }

  @Test
  void repeatsAreKnownForAtLeastAsLongAsTheBrokerKeepsThem() {
    RollOptions options = ParquetOptions.DEFAULT_ROLL;
    assertThat(options.rememberingAtLeast(Duration.ofDays(7)).remembered()).isEqualTo(Duration.ofDays(30));
    assertThat(options.rememberingAtLeast(Duration.ofDays(90)).remembered()).isEqualTo(Duration.ofDays(90));
  }

  @Test
  void eachEventOfEachBatchBecomesARowThatSaysWhereItCameFrom() throws Exception {
    try (ArchiveWriter writer = open()) {
      assertThat(writer.nextOffset(0)).isZero();
      assertThat(writer.append(Archives.at(7), Archives.serials(EMITTER, 1, 2))).isEqualTo(Appended.ACCEPTED);
      assertThat(writer.nextOffset(0)).isEqualTo(8);
    }
    assertThat(Archives.query(directory,
            "SELECT ts, serial, thread, host, program, pid, incarnation, route, sequence, event_index, level"
                + " FROM \"test.serial\" ORDER BY serial"))
        .containsExactly(
            "2026-09-21 14:13:20.0 0 1 host program 42 0123456789abcdef0000000000000001 0 1 0 info",
            "2026-09-21 14:13:20.000000001 1 1 host program 42 0123456789abcdef0000000000000001 0 1 1 info");
  }

  @Test
  void aRestartGoesOnWhereTheLastManifestEnded() throws Exception {
    for (int run = 0; run < 3; run++) {
      try (ArchiveWriter writer = open()) {
        long next = writer.nextOffset(0);
        assertThat(next).isEqualTo(run * 5L);
        for (long offset = next; offset < next + 5; offset++) {
          writer.append(Archives.at(offset), Archives.serials(EMITTER, offset + 1, 10));
        }
      }
    }
    assertThat(Archives.query(directory, SERIALS)).containsExactly("150 150 0 149");
    assertThat(Files.list(directory.resolve("manifests")).map(file -> file.getFileName().toString()).sorted())
        .containsExactly("0-00000000000000000000.json", "0-00000000000000000005.json", "0-00000000000000000010.json");
  }

  @Test
  void repeatsAreAbsorbedAlsoAfterARestart() throws Exception {
    byte[] batch = Archives.serials(EMITTER, 1, 10);
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), batch);
      assertThat(writer.append(Archives.at(1), batch)).isEqualTo(Appended.DUPLICATE);
      assertThat(writer.append(Archives.at(1), batch)).isEqualTo(Appended.ALREADY_ARCHIVED);
    }
    try (ArchiveWriter writer = open()) {
      assertThat(writer.append(Archives.at(2), batch)).isEqualTo(Appended.DUPLICATE);
      assertThat(writer.append(Archives.at(3), Archives.serials(EMITTER, 2, 10))).isEqualTo(Appended.ACCEPTED);
    }
    assertThat(Archives.query(directory, SERIALS)).containsExactly("20 20 0 19");
    assertThat(Manifests.read(new ArchiveDirectory(directory))).extracting(Manifest::duplicates)
        .containsExactly(1L, 1L);
  }

  @Test
  void aPoisonedBatchIsReportedAndCountedAndTheRestIsArchived() throws Exception {
    byte[] poisoned = Archives.serials(EMITTER, 2, 10);
    poisoned[poisoned.length / 2] ^= 1;
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
      assertThat(writer.append(Archives.at(1), poisoned)).isEqualTo(Appended.REJECTED);
      assertThat(writer.append(Archives.at(2), new byte[0])).isEqualTo(Appended.REJECTED);
      writer.append(Archives.at(3), Archives.serials(EMITTER, 3, 10));
    }
    assertThat(rejections).extracting(Rejection::code).containsExactly("bad_crc", "truncated");
    assertThat(rejections.get(0).position()).isEqualTo(Archives.at(1));
    assertThat(Manifests.read(new ArchiveDirectory(directory)).get(0).rejected()).isEqualTo(2);
    assertThat(Archives.query(directory, SERIALS)).containsExactly("20 20 0 29");
    assertThat(Archives.query(directory, "SELECT missing_batches FROM ledger")).containsExactly("1");
  }

  @Test
  void aBatchThatContradictsAnEarlierOneIsRejectedAsConflict() throws Exception {
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
      assertThat(writer.append(Archives.at(1), Archives.serials(EMITTER, 1, 11))).isEqualTo(Appended.REJECTED);
    }
    assertThat(rejections).extracting(Rejection::code).containsExactly("conflict");
    assertThat(Archives.query(directory, SERIALS)).containsExactly("10 10 0 9");
  }

  @Test
  void onlyRejectedMessagesStillMoveThePositionOn() throws Exception {
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(4), new byte[] {1});
    }
    try (ArchiveWriter writer = open()) {
      assertThat(writer.nextOffset(0)).isEqualTo(5);
    }
  }

  @Test
  void whatIsHeldIsPublishedWhenItIsOldEnough() throws Exception {
    ParquetOptions options = ParquetOptions.in(directory).withThreads(1).withRoll(ParquetOptions.DEFAULT_ROLL.withInterval(Duration.ofSeconds(60)));
    try (ArchiveWriter writer = new ParquetArchive(options).open(rejections::add)) {
      long now = System.currentTimeMillis();
      assertThat(writer.rollIfDue(now + 100_000)).isFalse();
      writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
      assertThat(writer.rollIfDue(now + 50_000)).isFalse();
      assertThat(writer.rollIfDue(now + 100_000)).isTrue();
      assertThat(writer.rollIfDue(now + 200_000)).isFalse();
      assertThat(Archives.query(directory, SERIALS)).containsExactly("10 10 0 9");
    }
  }

  @Test
  void emittersThatHaveBeenSilentForLongAreForgottenSoThatMemoryIsBounded() throws Exception {
    ParquetOptions options = ParquetOptions.in(directory).withThreads(1).withRoll(ParquetOptions.DEFAULT_ROLL.withRemembered(Duration.ofDays(1)));
    byte[] batch = Archives.serials(EMITTER, 1, 10);
    long sentMs = Archives.at(0).brokerTimeMs();
    try (ArchiveWriter writer = new ParquetArchive(options).open(rejections::add)) {
      writer.append(Archives.at(0), batch);
      writer.rollIfDue(sentMs + Duration.ofHours(23).toMillis());
      assertThat(writer.append(Archives.at(1), batch)).isEqualTo(Appended.DUPLICATE);
      writer.rollIfDue(sentMs + Duration.ofHours(25).toMillis());
      assertThat(writer.append(Archives.at(2), batch)).isEqualTo(Appended.ACCEPTED);
    }
  }

  @Test
  void theColumnsHeldStayBelowTheirLimit() throws Exception {
    long limit = 2 << 20;
    ParquetOptions options = ParquetOptions.in(directory).withThreads(1).withRoll(ParquetOptions.DEFAULT_ROLL.withBytes(limit));
    long highest = 0;
    try (ArchiveWriter writer = new ParquetArchive(options).open(rejections::add)) {
      for (int i = 0; i < 200; i++) {
        Incarnation incarnation = new Incarnation(9, i % 3);
        writer.append(new Position(i % 3, i, 0), Archives.serials(incarnation, i / 3 + 1, 2_000));
        highest = Math.max(highest, writer.heldBytes());
      }
    }
    assertThat(highest).isGreaterThan(limit / 2).isLessThan(2 * limit);
    assertThat(Manifests.read(new ArchiveDirectory(directory)).size()).isGreaterThan(6);
    assertThat(Archives.query(directory, "SELECT count(*) FROM events")).containsExactly("400000");
  }

  @Test
  void releasedPartitionsAreReadAgainByTheirNextOwner() throws Exception {
    try (ArchiveWriter first = open(); ArchiveWriter second = open()) {
      first.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
      first.release(0);
      assertThat(second.nextOffset(0)).isZero();
      second.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
    }
    assertThat(Archives.query(directory, SERIALS)).containsExactly("10 10 0 9");
  }

  @Test
  void twoWritersCannotHaveTheSamePartition() throws Exception {
    try (ArchiveWriter first = open(); ArchiveWriter second = open()) {
      first.nextOffset(0);
      assertThatThrownBy(() -> second.nextOffset(0)).isInstanceOf(ArchiveCollisionException.class)
          .hasMessage("partition 0 of the archive " + directory + " is in the hands of another writer (lock "
              + directory.resolve("locks/partition-0")
              + "): stop that one, or give this one another archive.dir");
      assertThat(second.nextOffset(1)).isZero();
    }
  }

  @Test
  void whenLocksFailTheManifestStopsTheSecondWriterAndKeepsTheFirstOnesEvents() throws Exception {
    try (ArchiveWriter loser = open()) {
      loser.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
      // A network file system may lose locks; removing the file has the same effect on a new writer.
      Files.delete(directory.resolve("locks/partition-0"));
      try (ArchiveWriter winner = open()) {
        winner.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
        winner.append(Archives.at(1), Archives.serials(EMITTER, 2, 10));
      }
      assertThatThrownBy(loser::roll).isInstanceOf(ArchiveCollisionException.class)
          .hasMessageContaining("another writer has already archived partition 0 from offset 0")
          .hasMessageContaining("stop one of the two");
      loser.abandon();
    }
    assertThat(Archives.query(directory, SERIALS)).containsExactly("20 20 0 19");
  }

  @Test
  void tornTemporaryFilesOfADeadWriterAreRemoved() throws Exception {
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
    }
    Path torn = Files.write(directory.resolve("data/0-00000000000000000001-deadbeef-00000.parquet.tmp"), new byte[100]);
    Path others = Files.write(directory.resolve("data/1-00000000000000000000-deadbeef-00000.parquet.tmp"), new byte[9]);
    Files.write(directory.resolve("manifests/0-00000000000000000001.json.123.tmp"), new byte[10]);
    try (ArchiveWriter writer = open()) {
      assertThat(writer.nextOffset(0)).isEqualTo(1);
      assertThat(torn).doesNotExist();
      assertThat(others).as("another partition's writer may be alive").exists();
    }
    assertThat(Archives.query(directory, SERIALS)).containsExactly("10 10 0 9");
  }

  @Test
  void aDamagedManifestIsAClearError() throws Exception {
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
    }
    Path manifest = directory.resolve("manifests/0-00000000000000000000.json");
    Files.writeString(manifest, Files.readString(manifest).substring(0, 100));
    try (ArchiveWriter writer = open()) {
      assertThatThrownBy(() -> writer.nextOffset(0)).isInstanceOf(ArchiveException.class)
          .hasMessage("the manifest " + manifest + " is damaged: restore it from a backup");
    }
  }

  @Test
  void aLostManifestIsAClearErrorAndNotAGap() throws Exception {
    try (ArchiveWriter writer = open()) {
      for (int i = 0; i < 3; i++) {
        writer.append(Archives.at(i), Archives.serials(EMITTER, i + 1, 10));
        writer.roll();
      }
    }
    Files.delete(directory.resolve("manifests/0-00000000000000000001.json"));
    assertThatThrownBy(() -> Manifests.read(new ArchiveDirectory(directory))).isInstanceOf(ArchiveException.class)
        .hasMessageContaining("partition 0 has a manifest up to offset 1 and then one from offset 2");
  }

  @Test
  void countsPerRouteFollowTheManifests() throws Exception {
    ManifestCounts counts = new ManifestCounts(directory.resolve("archive"));
    assertThat(counts.refresh()).isEmpty();
    ParquetOptions options = ParquetOptions.in(directory.resolve("archive")).withThreads(1);
    try (ArchiveWriter writer = new ParquetArchive(options).open(rejections::add)) {
      writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
      assertThat(counts.refresh()).isEmpty();
      writer.roll();
      assertThat(counts.refresh()).isEqualTo(Map.of(new RouteKey(EMITTER, 0), 10L));
      writer.append(Archives.at(1), Archives.serials(EMITTER, 2, 10));
      writer.append(Archives.at(2), Archives.batch(EMITTER, 1).route(3, "extra").event(Archives.SERIAL, 1, 1, 1)
          .toByteArray());
    }
    assertThat(counts.refresh())
        .isEqualTo(Map.of(new RouteKey(EMITTER, 0), 20L, new RouteKey(EMITTER, 3), 1L));
  }

  @Test
  void theLedgerHasTheLatestCountersOfEachRoute() throws Exception {
    try (ArchiveWriter writer = open()) {
      for (int sequence : new int[] {1, 3, 2}) {
        writer.append(Archives.at(writer.nextOffset(0)), Archives.batch(EMITTER, sequence).finalBatch(sequence == 3)
            .counter(Counter.EMITTED, sequence * 10L).counter(Counter.DROPPED_RING_FULL, sequence)
            .event(Archives.SERIAL, sequence, sequence, 1).toByteArray());
      }
    }
    assertThat(Archives.query(directory,
            "SELECT emitted, archived, dropped, dropped_ring_full, missing, missing_batches, last_sequence, final"
                + " FROM ledger")).containsExactly("30 3 3 3 24 0 3 true");
  }

  @Test
  void contextAndCountersOfEachBatchAreKept() throws Exception {
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(5), Archives.batch(EMITTER, 1).context("session", "it's \"one\"")
          .counter(Counter.SAMPLED_OUT, 4).event(Archives.SERIAL, 1, 1, 1).toByteArray());
    }
    assertThat(Archives.query(directory,
            "SELECT \"offset\", broker_time, context->>'session', sampled_out, events FROM batches"))
        .containsExactly("5 2026-09-21 14:13:20.0 it's \"one\" 4 1");
  }

  @Test
  void aBatchWithoutEventsIsArchivedForItsCounters() throws Exception {
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), Archives.batch(EMITTER, 1).counter(Counter.FOLDED, 9).toByteArray());
    }
    assertThat(Archives.query(directory, "SELECT folded, archived FROM ledger")).containsExactly("9 0");
    assertThat(Archives.query(directory, "SELECT count(*) FROM events")).containsExactly("0");
  }

  @Test
  void everyFieldTypeComesBackAsItWasEmitted() throws Exception {
    for (int rare : new int[] {0, 1_000}) {
      Path archive = directory.resolve("rare-" + rare);
      EventType type = EventType.named("all").field("a", FieldType.I32).field("b", FieldType.I64)
          .field("c", FieldType.F32).field("d", FieldType.F64).field("e", FieldType.STRING).field("f", FieldType.U32)
          .field("g", FieldType.U64).field("h", FieldType.BOOL).field("i", FieldType.BYTES)
          .constant("k", FieldType.F64, "", -0.5).constant("l", FieldType.U64, "", -2L).build();
      BatchWriter batch = Archives.batch(EMITTER, 1)
          .event(type, 1, Integer.MIN_VALUE, Long.MIN_VALUE, Float.MIN_VALUE, Double.MAX_VALUE, "é\0漢", 0xffffffffL,
              -1L, true, new byte[] {0, (byte) 0xff})
          .event(type, 2, Integer.MAX_VALUE, Long.MAX_VALUE, Float.NaN, Double.NEGATIVE_INFINITY, "", 0L, 0L, false,
              new byte[0])
          .event(type, 3, 0, 0L, -0.0f, -0.0, new byte[] {'a', (byte) 0xe9, 'b'}, 1L, 1L, false, new byte[] {1});
      ParquetOptions options = ParquetOptions.in(archive).withThreads(1).withRareRows(rare);
      try (ArchiveWriter writer = new ParquetArchive(options).open(rejections::add)) {
        writer.append(Archives.at(0), batch.toByteArray());
      }
      assertThat(Archives.query(archive,
              "SELECT a, b, c = 'NaN'::FLOAT OR c, d, encode(e), f, g, h, hex(i), k, l FROM \"all\" ORDER BY ts"))
          .as("rare below " + rare)
          .hasSize(3)
          .satisfies(rows -> assertThat(rows.get(0))
              .startsWith("-2147483648 -9223372036854775808 true 1.7976931348623157E308")
              .endsWith(" 4294967295 18446744073709551615 true 00FF -0.5 18446744073709551614"))
          .satisfies(rows -> assertThat(rows.get(1)).startsWith("2147483647 9223372036854775807 true -Infinity")
              .contains(" 0 0 false "));
      assertThat(Archives.query(archive, "SELECT e FROM \"all\" ORDER BY ts")).containsExactly("é\0漢", "", "a\uFFFDb");
      assertThat(Archives.query(archive, "SELECT typeof(a), typeof(b), typeof(c), typeof(d), typeof(e), typeof(f),"
              + " typeof(g), typeof(h), typeof(i), typeof(ts), typeof(thread) FROM \"all\" LIMIT 1"))
          .containsExactly("INTEGER BIGINT FLOAT DOUBLE VARCHAR UINTEGER UBIGINT BOOLEAN BLOB TIMESTAMP_NS UBIGINT");
      assertThat(Archives.query(archive, "SELECT fields->>'g', fields->>'d', fields->>'i', fields->>'k' FROM events"
              + " ORDER BY ts LIMIT 2"))
          .containsExactly("18446744073709551615 1.7976931348623157e308 00ff -0.5", "0 -inf  -0.5");
    }
  }
}
