package io.lifeline.jobs.archive.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.jobs.archive.Appended;
import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.ArchiveContract;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveWriteException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.RollOptions;
import io.lifeline.jobs.archive.SmallDisk;
import io.lifeline.jobs.core.Rejection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ParquetArchiveTest extends ArchiveContract {
  @TempDir Path directory;

  @Override
  protected Archive archive(RollOptions roll) {
    return new ParquetArchive(ParquetOptions.in(directory).withThreads(1).withRoll(roll));
  }

  @Override
  protected RollOptions defaultRoll() {
    return ParquetOptions.DEFAULT_ROLL;
  }

  @Override
  protected String reader() {
    return "parquet";
  }

  @Override
  protected List<String> query(String sql) throws Exception {
    return Archives.query(directory, sql);
  }

  @Override
  protected Archive archiveOn(SmallDisk disk) {
    return new ParquetArchive(ParquetOptions.in(disk.path().resolve("archive")).withThreads(1));
  }

  @Override
  protected List<String> queryOn(SmallDisk disk, String sql) throws Exception {
    return Archives.query(disk.path().resolve("archive"), sql);
  }

  @Override
  protected void moveTo(String elsewhere) throws Exception {
    Files.move(directory, directory.resolveSibling(directory.getFileName() + elsewhere));
  }

  @Override
  protected void moveBackFrom(String elsewhere) throws Exception {
    Files.move(directory.resolveSibling(directory.getFileName() + elsewhere), directory);
  }

  /** A network file system may lose locks; removing the file has the same effect on a new writer. */
  @Override
  protected void loseLock(int partition) throws Exception {
    Files.delete(directory.resolve("locks/partition-" + partition));
  }

  /** The fields of a frequent type are columns of a file, whose names cannot contain NUL. */
  @Test
  void aNulInTheNamesOfAFrequentTypeStopsNothing() throws Exception {
    EventType poison = EventType.named("a\0b").field("id", FieldType.I64).field("a\0", FieldType.I64)
        .field("a\uFFFD", FieldType.I64).constant("c\0", FieldType.STRING, "", "v\0").build();
    ParquetOptions options = ParquetOptions.in(directory).withThreads(1).withRareRows(0);
    try (ArchiveWriter writer = new ParquetArchive(options).open(rejections::add)) {
      writer.append(Archives.at(0), Archives.batch(EMITTER, 1).event(poison, 1, 7L, 8L, 9L).toByteArray());
      writer.append(Archives.at(1), Archives.serials(EMITTER, 2, 10));
    }
    assertThat(rejections).isEmpty();
    assertThat(query("SELECT * EXCLUDE (ts) FROM \"a\uFFFDb\"")).singleElement().asString()
        .startsWith("7 8 9 v\uFFFD host program");
    assertThat(query("SHOW TABLES")).contains("a\uFFFDb", "test.serial");
    assertThat(query("SELECT fields->>'a\uFFFD~' FROM events WHERE id = '7'")).containsExactly("9");
    new Compactor(options, 1 << 20, Duration.ofHours(1)).compact();
  }

  @Test
  void lateBatchesAreLookedForOnlyWhereTheyCanBeAndADiskThatFailsIsTriedAgain() throws Exception {
    try (ArchiveWriter writer = open()) {
      for (int i = 0; i < 2; i++) {
        writer.append(Archives.at(i), Archives.serials(EMITTER, i + 1, 10));
        writer.roll();
      }
    }
    Path first = directory.resolve("data").resolve(Manifests.read(new ArchiveDirectory(directory)).get(0).files()
        .stream().filter(file -> file.kind() == Manifest.Kind.BATCHES).findFirst().orElseThrow().name());
    byte[] sound = Files.readAllBytes(first);
    Files.write(first, new byte[sound.length]);
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(2), Archives.serials(EMITTER, 2, 11));
      writer.roll();
      assertThat(rejections).extracting(Rejection::code).containsExactly("conflict");
      writer.append(Archives.at(3), Archives.serials(EMITTER, 1, 11));
      assertThatThrownBy(writer::roll).isInstanceOf(ArchiveWriteException.class).hasMessageContaining("cannot be read");
      Files.write(first, sound);
    }
    assertThat(rejections).extracting(rejection -> rejection.position().offset()).containsExactly(2L, 3L);
  }

  /** Files of earlier releases have no checksums of batches. */
  @Test
  void aRepeatOfABatchWithoutAChecksumIsNoConflict() throws Exception {
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
    }
    Path batches = directory.resolve("data").resolve(Manifests.read(new ArchiveDirectory(directory)).get(0).files()
        .stream().filter(file -> file.kind() == Manifest.Kind.BATCHES).findFirst().orElseThrow().name());
    Path old = directory.resolve("old.parquet");
    try (var duck = io.lifeline.jobs.archive.DuckDb.open(); var statement = duck.createStatement()) {
      statement.execute("COPY (SELECT * EXCLUDE (crc) FROM '" + batches + "') TO '" + old + "' (FORMAT parquet)");
    }
    Files.move(old, batches, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    try (ArchiveWriter writer = open()) {
      assertThat(writer.append(Archives.at(1), Archives.serials(EMITTER, 1, 11))).isEqualTo(Appended.DUPLICATE);
      writer.append(Archives.at(2), Archives.serials(EMITTER, 2, 10));
    }
    assertThat(rejections).isEmpty();
    assertThat(query("SELECT crc IS NULL FROM batches ORDER BY sequence")).containsExactly("true", "false");
  }

  /** Manifests of earlier releases have unclean names. */
  @Test
  void namesOfOldManifestsAreMadeClean() throws Exception {
    EventType type = EventType.named("a_b").field("n", FieldType.I64).build();
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), Archives.batch(EMITTER, 1).event(type, 1, 7L).toByteArray());
    }
    Path manifest = directory.resolve("manifests/0-00000000000000000000.json");
    Files.writeString(manifest, Files.readString(manifest).replace("a_b", "a\\u0000b"));
    assertThat(query("SELECT n FROM \"a\uFFFDb\"")).containsExactly("7");
    assertThat(query("SHOW TABLES")).contains("a\uFFFDb");
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
        .containsExactly("0-00000000000000000000.json", "0-00000000000000000005.json", "0-00000000000000000010.json",
            "0.end");
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
