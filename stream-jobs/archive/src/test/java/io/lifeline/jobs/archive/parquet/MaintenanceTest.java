package io.lifeline.jobs.archive.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.Json;
import io.lifeline.jobs.archive.TimeSpan;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.jobs.core.RouteKey;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MaintenanceTest {
  private static final Incarnation EMITTER = new Incarnation(7, 8);
  private static final EventType RARE = EventType.named("rare").field("n", FieldType.I64).build();

  /** A midnight, long before the time of this machine. */
  private static final long FIRST_MS = 1_699_920_000_000L;

  private static final Duration DAY = Duration.ofDays(1);
  private static final int EVENTS = 30;
  private static final String SERIALS = "SELECT count(*), count(DISTINCT serial), min(serial) FROM \"test.serial\"";
  private static final String BOOKS = "SELECT archived, missing, missing_batches, batches FROM ledger";

  @TempDir static Path templates;
  @TempDir Path directory;

  private final List<Rejection> rejections = new ArrayList<>();

  private ParquetOptions options() {
    return options(directory);
  }

  private static ParquetOptions options(Path directory) {
    return ParquetOptions.in(directory).withThreads(1).withRareRows(EVENTS);
  }

  private Compactor compactor(Duration retention) {
    return compactor(retention, System::nanoTime);
  }

  private Compactor compactor(Duration retention, LongSupplier nanoTime) {
    return new Compactor(options().withRetention(retention), 1 << 20, Duration.ZERO, step -> {}, nanoTime);
  }

  private static byte[] batch(long offset, Duration every) {
    long ms = FIRST_MS + offset * every.toMillis();
    BatchWriter batch = new BatchWriter().incarnation(EMITTER).sequence(offset + 1).host("host").program("program")
        .calibration(0, 0, ms * 1_000_000, 0, false).counter(Counter.EMITTED, (offset + 1) * (EVENTS + 1));
    for (int i = 0; i < EVENTS; i++) {
      batch.event(Archives.SERIAL, i, offset * EVENTS + i, 1);
    }
    return batch.event(RARE, EVENTS, offset).toByteArray();
  }

  private void archive(int rolls, Duration every) throws Exception {
    Archives.add(directory, templates, rolls + " " + every, archive -> {
      try (ArchiveWriter writer = new ParquetArchive(options(archive)).open(rejections::add)) {
        archive(writer, rolls, every);
      }
    });
  }

  private static void archive(ArchiveWriter writer, int rolls, Duration every) throws Exception {
    for (int i = 0; i < rolls; i++) {
      long offset = writer.nextOffset(0);
      writer.append(new Position(0, offset, FIRST_MS + offset * every.toMillis()), batch(offset, every));
      writer.roll();
    }
  }

  private List<String> names(String folder, String ending) throws Exception {
    try (Stream<Path> files = Files.list(directory.resolve(folder))) {
      return files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(ending)).sorted().toList();
    }
  }

  private List<Manifest> manifests() throws Exception {
    return Manifests.read(new ArchiveDirectory(directory));
  }

  private List<Manifest.FileEntry> files() throws Exception {
    return manifests().stream().flatMap(manifest -> manifest.files().stream()).toList();
  }

  private List<String> query(String sql) throws Exception {
    return Archives.query(directory, sql);
  }

  private static String serials(int first, int rolls) {
    return rolls * EVENTS + " " + rolls * EVENTS + " " + first * EVENTS;
  }

  @Test
  void aPartitionHasFewManifestsAfterAnyNumberOfRolls() throws Exception {
    Duration minute = Duration.ofMinutes(1);
    archive(72, minute);
    archive(3, minute);
    compactor(null).run(Policy.LEVELS, ns -> true);
    assertThat(manifests()).extracting(Manifest::rolls).containsExactly(64L, 11L);
    archive(7, minute);
    compactor(null).run(Policy.LEVELS, ns -> true);
    assertThat(manifests()).extracting(Manifest::rolls).containsExactly(64L, 11L, 1L, 1L, 1L, 1L, 1L, 1L, 1L);
    archive(1, minute);
    compactor(null).run(Policy.LEVELS, ns -> true);
    assertThat(manifests()).extracting(Manifest::rolls).containsExactly(64L, 11L, 8L);
    assertThat(files()).hasSize(9);
    assertThat(query(SERIALS)).containsExactly(serials(0, 83));
    assertThat(query("SELECT count(*) FROM rare")).containsExactly("83");
    assertThat(query(BOOKS)).containsExactly(83 * (EVENTS + 1) + " 0 0 83");
  }

  @Test
  void aRunThatIsToEndLeavesTheRestForTheNextOne() throws Exception {
    archive(72, Duration.ofMinutes(1));
    compactor(null).run(Policy.LEVELS, ns -> false);
    assertThat(manifests()).extracting(Manifest::rolls).hasSize(9).startsWith(64L);
    compactor(null).run(Policy.LEVELS, ns -> true);
    assertThat(manifests()).extracting(Manifest::rolls).containsExactly(64L, 8L);
  }

  @Test
  void aMergedFileHasEventsOfOneDayAndItsTimes() throws Exception {
    archive(16, Duration.ofHours(6));
    compactor(null).run(Policy.LEVELS, ns -> true);
    long dayNs = DAY.toNanos();
    long firstNs = FIRST_MS * 1_000_000;
    for (Manifest.Kind kind : List.of(Manifest.Kind.TYPE, Manifest.Kind.SHARED)) {
      int first = kind == Manifest.Kind.TYPE ? 0 : EVENTS;
      int last = kind == Manifest.Kind.TYPE ? EVENTS - 1 : EVENTS;
      assertThat(files()).filteredOn(file -> file.kind() == kind).extracting(Manifest.FileEntry::times).containsExactly(
          Stream.of(0, 1, 2, 3).map(day -> new TimeSpan(
              firstNs + day * dayNs + first, firstNs + day * dayNs + dayNs * 3 / 4 + last)).toArray(TimeSpan[]::new));
    }
    assertThat(files()).hasSize(12);
  }

  @Test
  void expiredEventsAreGoneAndStayInTheBooks() throws Exception {
    Duration every = Duration.ofHours(6);
    archive(16, every);
    List<String> books = query(BOOKS);
    Map<RouteKey, Long> counts = new ManifestCounts(directory).refresh();
    int files = names("data", ".parquet").size();
    compactor(DAY.multipliedBy(2)).run(Policy.LEVELS, ns -> true);
    assertThat(query(SERIALS)).as("42 hours of 90 are over").containsExactly(serials(7, 9));
    assertThat(query("SELECT min(\"offset\") FROM batches")).containsExactly("7");
    assertThat(query(BOOKS)).isEqualTo(books);
    assertThat(new ManifestCounts(directory).refresh()).isEqualTo(counts);
    assertThat(compactor(DAY.multipliedBy(2)).run(Policy.LEVELS, ns -> true).filesDeleted())
        .as("all but those of the roll that is alone on its day").isEqualTo(files - 3);
    assertThat(names("data", ".parquet")).hasSize(3 * 3);
    try (ArchiveWriter writer = new ParquetArchive(options()).open(rejections::add)) {
      assertThat(writer.nextOffset(0)).isEqualTo(16);
      writer.append(new Position(0, 16, FIRST_MS), batch(0, every));
      writer.append(new Position(0, 17, FIRST_MS), batch(10, every));
    }
    assertThat(rejections).as("of a batch that is gone nobody knows its bytes").extracting(Rejection::code)
        .containsExactly("unverifiable");
    assertThat(query(SERIALS)).containsExactly(serials(7, 9));
  }

  @Test
  void aTypeWithoutEventsKeepsItsViewAndColumns() throws Exception {
    archive(1, DAY);
    List<String> columns = query("SELECT column_name, column_type FROM (DESCRIBE rare)");
    try (ArchiveWriter writer = new ParquetArchive(options()).open(rejections::add)) {
      writer.append(new Position(0, 1, FIRST_MS + 5 * DAY.toMillis()), Archives.serials(new Incarnation(1, 1), 1, 1));
    }
    compactor(DAY).run(Policy.NOTHING, ns -> true);
    assertThat(query("SELECT column_name, column_type FROM (DESCRIBE rare)"))
        .containsExactlyInAnyOrderElementsOf(columns);
    assertThat(query("SELECT count(*) FROM rare")).containsExactly("0");
    assertThat(query("SELECT count(*) FROM \"test.serial\"")).containsExactly("1");
  }

  /** Readers know manifests by their names, so a name must never stand for two contents. */
  @Test
  void eachReplacementOfAManifestHasANewName() throws Exception {
    archive(4, DAY);
    ManifestCounts counts = new ManifestCounts(directory);
    Map<RouteKey, Long> before = counts.refresh();
    compactor(null).compact();
    assertThat(counts.refresh()).isEqualTo(before);
    for (int step = 1; step <= 3; step++) {
      compactor(DAY.multipliedBy(3).minusHours(23L * step)).run(Policy.NOTHING, ns -> true);
      assertThat(Manifests.readByName(new ArchiveDirectory(directory)))
          .containsOnlyKeys("0-00000000000000000000.00000000000000000004." + step + ".json");
      assertThat(query(SERIALS)).containsExactly(serials(step, 4 - step));
      assertThat(counts.refresh()).isEqualTo(before);
    }
    archive(1, DAY);
    assertThat(query(SERIALS)).containsExactly(serials(3, 2));
    compactor(null).compact();
    assertThat(counts.refresh()).as("of a manifest that was counted in part")
        .isEqualTo(Map.of(new RouteKey(EMITTER, 0), 5L * (EVENTS + 1)));
  }

  @Test
  void aMessageFromTheFutureExpiresNothing() throws Exception {
    archive(2, DAY);
    try (ArchiveWriter writer = new ParquetArchive(options()).open(rejections::add)) {
      writer.append(new Position(0, 2, 4_000_000_000_000L), Archives.serials(new Incarnation(1, 1), 1, 1));
    }
    long age = System.currentTimeMillis() - FIRST_MS;
    compactor(Duration.ofMillis(age).plusHours(1)).run(Policy.LEVELS, ns -> true);
    assertThat(query(BOOKS + " WHERE batches = 2")).hasSize(1);
    assertThat(query("SELECT count(*) FROM \"test.serial\"")).containsExactly(Integer.toString(2 * EVENTS + 1));
  }

  /** On one host the broker's clock and this machine's are the same. */
  @Test
  void aClockThatIsSetForwardExpiresNothingAlsoAfterARestart() throws Exception {
    archive(4, DAY);
    Duration retention = DAY.multipliedBy(3);
    AtomicLong nanos = new AtomicLong();
    compactor(retention, nanos::get).run(Policy.LEVELS, ns -> true);
    archive(1, DAY.multipliedBy(10)); // of day 40
    Compactor restarted = compactor(retention, nanos::get);
    for (int run = 0; run < 3; run++) {
      nanos.addAndGet(Duration.ofMinutes(10).toNanos());
      restarted.run(Policy.LEVELS, ns -> true);
    }
    assertThat(query(SERIALS)).as("the first is a little older than three days").containsExactly(serials(1, 4));
    nanos.addAndGet(DAY.multipliedBy(2).toNanos());
    restarted.run(Policy.LEVELS, ns -> true);
    assertThat(query(SERIALS)).as("two days and a fifth later").containsExactly(serials(3, 2));
    Files.write(directory.resolve("retention-clock"), new byte[] {1, 2, 3});
    assertThatThrownBy(() -> compactor(retention).run(Policy.LEVELS, ns -> true)).isInstanceOf(ArchiveException.class)
        .hasMessageContaining("retention-clock cannot be read, so nothing expires: remove the file");
    compactor(null).run(Policy.LEVELS, ns -> true);
    assertThat(query(SERIALS)).containsExactly(serials(3, 2));
  }

  /** As on a full disk: what has expired goes all the same, or there would never be room again. */
  @Test
  void aClockThatCannotBeWrittenKeepsNothingFromExpiring() throws Exception {
    archive(4, DAY);
    Files.createDirectory(directory.resolve("retention-clock.tmp"));
    compactor(DAY.multipliedBy(2)).run(Policy.LEVELS, ns -> true);
    assertThat(query(SERIALS)).containsExactly(serials(1, 3));
  }

  @Test
  void aPartitionWithoutNewMessagesExpiresByTheTimeOfTheOthers() throws Exception {
    archive(1, DAY);
    try (ArchiveWriter writer = new ParquetArchive(options()).open(rejections::add)) {
      long ms = FIRST_MS + 5 * DAY.toMillis();
      writer.append(new Position(1, 0, ms), Archives.serials(new Incarnation(1, 1), 1, 1));
    }
    compactor(DAY.multipliedBy(2)).run(Policy.LEVELS, ns -> true);
    assertThat(query("SELECT count(*) FROM \"test.serial\"")).containsExactly("1");
  }

  @Test
  void manifestsOfManyRoutesAreNotMergedAndTheLedgerHasThemAll() throws Exception {
    int routes = 200;
    try (ArchiveWriter writer = new ParquetArchive(options()).open(rejections::add)) {
      for (int offset = 0; offset < 2 * routes; offset++) {
        Incarnation emitter = new Incarnation(1, offset % (routes * 3 / 2));
        writer.append(new Position(0, offset, FIRST_MS), Archives.serials(emitter, 1 + offset * 2L / (routes * 3), 1));
        if (offset == routes) {
          writer.roll();
        }
      }
    }
    makeManifestsAsLargeAs(Compactor.LARGE_MANIFEST_BYTES + 1);
    compactor(null).run(Policy.EVERYTHING, ns -> true);
    assertThat(manifests()).hasSize(2);
    assertThat(query("SELECT count(*), sum(archived), sum(missing), max(batches), sum(missing_batches) FROM ledger"))
        .containsExactly(routes * 3 / 2 + " " + 2 * routes + " 0 2 0");
  }

  /** By a hole at the end of each manifest, which is never read. */
  private void makeManifestsAsLargeAs(long bytes) throws Exception {
    for (String name : names("manifests", ".json")) {
      try (RandomAccessFile manifest = new RandomAccessFile(directory.resolve("manifests/" + name).toFile(), "rw")) {
        manifest.setLength(bytes);
      }
    }
  }

  @Test
  void onlyManifestsWhoseRoutesFitIntoMemoryAreMergedAtOnce() throws Exception {
    archive(20, Duration.ofMinutes(1));
    makeManifestsAsLargeAs(Compactor.LARGE_MANIFEST_BYTES);
    compactor(null).run(Policy.LEVELS, ns -> true);
    assertThat(manifests()).extracting(Manifest::rolls).containsExactly(8L, 8L, 1L, 1L, 1L, 1L);
    assertThat(query(SERIALS)).containsExactly(serials(0, 20));
  }

  @Test
  void manifestsOfTheSameManyRoutesAreMerged() throws Exception {
    int routes = 200;
    try (ArchiveWriter writer = new ParquetArchive(options()).open(rejections::add)) {
      for (int offset = 0; offset < 2 * routes; offset++) {
        Incarnation emitter = new Incarnation(1, offset % routes);
        writer.append(new Position(0, offset, FIRST_MS), Archives.serials(emitter, 1 + offset / routes, 1));
        if (offset == routes - 1) {
          writer.roll();
        }
      }
    }
    makeManifestsAsLargeAs(Compactor.LARGE_MANIFEST_BYTES + 1);
    compactor(null).run(Policy.EVERYTHING, ns -> true);
    assertThat(manifests()).hasSize(1);
    assertThat(query("SELECT count(*), sum(archived), sum(missing) FROM ledger"))
        .containsExactly(routes + " " + 2 * routes + " 0");
  }

  /** Simulates a crash: no code after it runs. */
  private static final class Death extends Error {}

  @ParameterizedTest
  @EnumSource(PublicationStep.class)
  void aRunThatDiesAtAnyStepLosesNothingThatHasNotExpired(PublicationStep step) throws Exception {
    archive(16, Duration.ofHours(6));
    List<String> books = query(BOOKS);
    Duration retention = DAY.multipliedBy(2);
    Compactor dying = new Compactor(options().withRetention(retention), 1 << 20, Duration.ZERO, now -> {
      if (now == step) {
        throw new Death();
      }
    });
    assertThatThrownBy(() -> dying.run(Policy.LEVELS, ns -> true)).isInstanceOf(Death.class);
    boolean isPublished = step.compareTo(PublicationStep.MANIFEST_LINKED) >= 0;
    // The first roll expires alone, and has no new file; the others do when they are merged.
    List<List<String>> meanwhile = Archives.query(directory, List.of(SERIALS, BOOKS));
    assertThat(meanwhile.get(0)).singleElement()
        .isIn(isPublished ? List.of(serials(1, 15), serials(7, 9)) : List.of(serials(0, 16)));
    assertThat(meanwhile.get(1)).isEqualTo(books);
    compactor(retention).run(Policy.LEVELS, ns -> true);
    compactor(retention).run(Policy.LEVELS, ns -> true);
    assertThat(Archives.query(directory, List.of(SERIALS, BOOKS))).containsExactly(List.of(serials(7, 9)), books);
    assertThat(names("manifests", ".json")).hasSize(1);
    assertThat(names("data", "")).hasSameElementsAs(files().stream().map(Manifest.FileEntry::name).toList());
  }

  @Test
  void manifestsOfEarlierReleasesExpireAndGetTimesWhenTheyAreMerged() throws Exception {
    archive(8, Duration.ofHours(1));
    List<TimeSpan> times = files().stream().map(Manifest.FileEntry::times).toList();
    for (String name : names("manifests", ".json")) {
      Path manifest = directory.resolve("manifests").resolve(name);
      ObjectNode json = (ObjectNode) Json.MAPPER.readTree(manifest.toFile());
      json.put("version", 1).remove("rolls");
      json.path("files").forEach(file -> ((ObjectNode) file).remove(List.of("times", "received_ms")));
      Json.MAPPER.writeValue(manifest.toFile(), json);
    }
    assertThat(files()).extracting(Manifest.FileEntry::times).containsOnlyNulls().hasSameSizeAs(times);
    assertThat(query(SERIALS)).containsExactly(serials(0, 8));
    compactor(Duration.ofHours(3)).run(Policy.LEVELS, ns -> true);
    assertThat(query(SERIALS)).containsExactly(serials(4, 4));
    assertThat(files()).filteredOn(file -> file.kind() == Manifest.Kind.TYPE).singleElement()
        .extracting(Manifest.FileEntry::times)
        .isEqualTo(new TimeSpan(times.get(3 * 4).fromNs(), times.get(3 * 7).toNs()));
  }

  /** A late batch is compared with its archived one wherever that was merged to. */
  @Test
  void aConflictWithAMergedBatchIsStillFound() throws Exception {
    archive(16, Duration.ofHours(6));
    compactor(null).run(Policy.LEVELS, ns -> true);
    try (ArchiveWriter writer = new ParquetArchive(options()).open(rejections::add)) {
      writer.append(new Position(0, 16, FIRST_MS), batch(9, Duration.ofHours(6)));
      writer.append(new Position(0, 17, FIRST_MS), batch(9, Duration.ofHours(7)));
    }
    assertThat(rejections).extracting(Rejection::code).containsExactly("conflict");
  }

  /** Returns the options of a writer that merges in the background as often as it can. */
  private static ParquetOptions merging(Path directory) {
    return ParquetOptions.in(directory).withThreads(1).withRareRows(EVENTS).withCompacting(true)
        .withRoll(ParquetOptions.DEFAULT_ROLL.withInterval(Duration.ofMillis(10)));
  }

  private void isComplete(long rolls) throws Exception {
    assertThat(query(SERIALS)).as("wrong books: serials").containsExactly(serials(0, (int) rolls));
    assertThat(query(BOOKS)).as("wrong books: ledger").containsExactly(rolls * (EVENTS + 1) + " 0 0 " + rolls);
    assertThat(Verifier.verify(directory).damages()).isEmpty();
  }

  @Test
  @Tag("system")
  @Timeout(120)
  void aWriterMergesInTheBackgroundAndClosesMeanwhile() throws Exception {
    try (ArchiveWriter writer = new ParquetArchive(merging(directory)).open(rejections::add)) {
      while (names("manifests", ".json").stream().noneMatch(ArchiveDirectory::isCompacted)) {
        archive(writer, 1, Duration.ofMinutes(1));
      }
      archive(writer, 8, Duration.ofMinutes(1));
    }
    isComplete(manifests().stream().mapToLong(Manifest::rolls).sum());
  }

  @Test
  @Tag("system")
  @Timeout(120)
  void ofSeveralWritersInAProcessTheFirstMergesForAll() throws Exception {
    ParquetArchive archive = new ParquetArchive(merging(directory));
    try (ArchiveWriter second = archive.share(1, 2).open(rejections::add)) {
      archive(second, 30, Duration.ofMinutes(1));
      assertThat(directory.resolve("locks/compaction")).doesNotExist();
      try (ArchiveWriter first = archive.share(0, 2).open(rejections::add)) {
        while (names("manifests", ".json").stream().noneMatch(ArchiveDirectory::isCompacted)) {
          archive(second, 1, Duration.ofMinutes(1));
        }
      }
    }
    isComplete(manifests().stream().mapToLong(Manifest::rolls).sum());
  }

  /** As on a full disk: each writer ends long before the eight rolls after which its first run would be due. */
  @Test
  @Tag("system")
  @Timeout(120)
  void writersThatAreOpenedAgainAndAgainMergeAsWell() throws Exception {
    ParquetArchive archive = new ParquetArchive(
        merging(directory).withRoll(ParquetOptions.DEFAULT_ROLL.withInterval(Duration.ofSeconds(1))));
    long open = 0;
    do {
      open = Math.min(open + 1_000, 6_000); // a merge that is cut short begins anew
      try (ArchiveWriter writer = archive.open(rejections::add)) {
        archive(writer, 1, Duration.ofMinutes(1));
        Thread.sleep(open);
      }
    } while (names("manifests", ".json").stream().noneMatch(ArchiveDirectory::isCompacted));
    isComplete(manifests().stream().mapToLong(Manifest::rolls).sum());
  }

  /** Rolls in a separate process, and merges in the background, until it is killed. */
  public static void main(String[] arguments) throws Exception {
    try (ArchiveWriter writer = new ParquetArchive(merging(Path.of(arguments[0]))).open(rejection -> {})) {
      while (true) {
        archive(writer, 1, Duration.ofMinutes(1));
        System.out.println("rolled");
      }
    }
  }

  @Test
  @Tag("system")
  @Timeout(300)
  void aWriterThatIsKilledWhileItMergesLosesNothing() throws Exception {
    Random random = new Random(5);
    int rolls = 0;
    for (int kill = 0; kill < 3; kill++) {
      Process child = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
          System.getProperty("java.class.path"), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
          MaintenanceTest.class.getName(), directory.toString()).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      try (BufferedReader out = new BufferedReader(new InputStreamReader(child.getInputStream()))) {
        int least = rolls + 15 + random.nextInt(15);
        while (rolls < least || names("manifests", ".json").stream().noneMatch(ArchiveDirectory::isCompacted)) {
          assertThat(out.readLine()).isEqualTo("rolled");
          rolls++;
        }
      } finally {
        child.destroyForcibly().waitFor();
      }
      long found = manifests().stream().mapToLong(Manifest::rolls).sum();
      assertThat(found).as("wrong books: rolls").isGreaterThanOrEqualTo(rolls);
      isComplete(found);
      rolls = (int) found;
    }
    archive(1, Duration.ofMinutes(1));
    compactor(null).compact();
    isComplete(rolls + 1);
    compactor(null).compact();
    assertThat(names("data", "")).hasSameSizeAs(files());
  }
}
