package io.lifeline.jobs.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lifeline.cases.Hostile;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.jobs.core.RouteKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The contract of every {@link Archive}. An implementation's test extends this, opens and queries its archive, and adds
 * its own tests. The SQL here is valid for all implementations.
 */
public abstract class ArchiveContract extends IdentityContract {
  /** Returns an archive whose events are on that small disk. */
  protected abstract Archive archiveOn(SmallDisk disk) throws Exception;

  /** As {@link #query}, of the archive on the small disk. */
  protected abstract List<String> queryOn(SmallDisk disk, String sql) throws Exception;

  /** Returns the name of the implementation in the corpus of hostile batches. */
  protected abstract String reader();

  /** Returns the peak memory of any server process of the archive, in bytes. */
  protected long serverMemory() throws Exception {
    return 0;
  }

  /** Makes a second writer see the partition as free, as after a lost lock. */
  protected abstract void loseLock(int partition) throws Exception;

  @Test
  void eachEventOfEachBatchBecomesARowThatSaysWhereItCameFrom() throws Exception {
    try (ArchiveWriter writer = open()) {
      assertThat(writer.nextOffset(0)).isZero();
      assertThat(writer.append(Archives.at(7), Archives.serials(EMITTER, 1, 2))).isEqualTo(Appended.ACCEPTED);
      assertThat(writer.nextOffset(0)).isEqualTo(8);
    }
    assertThat(query("SELECT serial, thread, host, program, pid, incarnation, route, sequence, event_index, level"
            + " FROM \"test.serial\" ORDER BY serial"))
        .containsExactly(
            "0 1 host program 42 0123456789abcdef0000000000000001 0 1 0 info",
            "1 1 host program 42 0123456789abcdef0000000000000001 0 1 1 info");
    assertThat(query("SELECT extract(year FROM ts) = 2026, extract(minute FROM ts) = 13 FROM \"test.serial\""))
        .hasSize(2).allMatch(row -> row.matches("(t|true) (t|true)"));
  }

  @Test
  void aRestartGoesOnWhereTheArchiveEnds() throws Exception {
    for (int run = 0; run < 3; run++) {
      try (ArchiveWriter writer = open()) {
        long next = writer.nextOffset(0);
        assertThat(next).isEqualTo(run * 5L);
        for (long offset = next; offset < next + 5; offset++) {
          writer.append(Archives.at(offset), Archives.serials(EMITTER, offset + 1, 10));
        }
      }
    }
    assertThat(query(SERIALS)).containsExactly("150 150 0 149");
  }

  @Test
  void whatIsNotYetStoredIsNotDurable() throws Exception {
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(4), Archives.serials(EMITTER, 1, 10));
      assertThat(writer.nextOffset(0)).isEqualTo(5);
      assertThat(writer.durableOffset(0)).isZero();
      writer.roll();
      assertThat(writer.durableOffset(0)).isEqualTo(5);
      writer.append(Archives.at(5), Archives.serials(EMITTER, 2, 10));
      writer.abandon();
    }
    try (ArchiveWriter writer = open()) {
      assertThat(writer.nextOffset(0)).isEqualTo(5);
    }
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
    assertThat(query(SERIALS)).containsExactly("20 20 0 19");
  }

  @Test
  void aPoisonedBatchIsReportedAndTheRestIsArchived() throws Exception {
    byte[] poisoned = Archives.serials(EMITTER, 2, 10);
    poisoned[poisoned.length / 2] ^= 1;
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
      assertThat(writer.append(Archives.at(1), poisoned)).isEqualTo(Appended.REJECTED);
      assertThat(writer.append(Archives.at(2), null)).isEqualTo(Appended.REJECTED);
      writer.append(Archives.at(3), Archives.serials(EMITTER, 3, 10));
    }
    assertThat(rejections).extracting(Rejection::code).containsExactly("bad_crc", "truncated");
    assertThat(rejections.get(0).position()).isEqualTo(Archives.at(1));
    assertThat(query(SERIALS)).containsExactly("20 20 0 29");
    assertThat(query("SELECT missing_batches FROM ledger")).containsExactly("1");
  }

  /** Each roll has one hostile and one valid batch, so that other batches cannot mask an effect. */
  @Test
  @Timeout(value = 20, unit = TimeUnit.MINUTES) // more than a hundred rolls, beside everything else that is tested
  void hostileBatchesAreArchivedOrRefusedAndHarmNobodyElse() throws Exception {
    long offset = 0;
    long honest = 0;
    List<String> refused = new ArrayList<>();
    try (ArchiveWriter writer = open()) {
      for (Path hostile : Archives.hostileBatches()) {
        if (writer.append(Archives.at(offset++), Files.readAllBytes(hostile)) != Appended.ACCEPTED) {
          refused.add(hostile.getFileName().toString());
        }
        writer.append(Archives.at(offset++), Archives.serials(EMITTER, ++honest, 10));
        if (honest % 4 == 0) {
          writer.roll();
        }
      }
      writer.roll();
    }
    assertThat(refused).as("%s", rejections).isEmpty();
    long events = 10 * honest;
    assertThat(query(SERIALS)).containsExactly("%d %d 0 %d".formatted(events, events, events - 1));
    assertThat(query("SELECT archived, missing FROM ledger WHERE host = 'host'")).containsExactly(events + " 0");
    assertThat(query("SELECT count(*) FROM ledger")).containsExactly(String.valueOf(honest + 1));
    List<String> views = query("SELECT table_name FROM information_schema.tables WHERE table_type = 'VIEW'"
        + " AND table_schema = current_schema() AND table_name <> 'events' AND table_name NOT LIKE 'hostile.many.%'");
    assertThat(views).hasSizeGreaterThan(100).doesNotHaveDuplicates();
    assertThat(query(views.stream().map(view -> "SELECT count(*) FROM " + Sql.identifier(view))
        .collect(Collectors.joining(" UNION ALL ")))).hasSameSizeAs(views);
    assertThat(query("SELECT fields FROM events")).hasSizeGreaterThan((int) events);
  }

  /** Decompression bombs, conflicts and thousands of types; as above. */
  @Test
  @Tag("system")
  void hostileBatchesWithoutMeasureAreArchivedOrRefusedInBoundedMemory() throws Exception {
    List<Hostile> corpus = Hostile.made(reader(), "remembering");
    assertThat(Hostile.peakMemory(() -> {
      try (ArchiveWriter writer = open()) {
        long offset = 0;
        for (int i = 0; i < corpus.size(); i++) {
          writer.append(Archives.at(offset++), Archives.serials(EMITTER, 2 * i + 1, 10));
          offset = assertDue(corpus.get(i), writer, offset);
          writer.append(Archives.at(offset++), Archives.serials(EMITTER, 2 * i + 2, 10));
        }
        writer.roll();
        assertThat(serverMemory()).isLessThan(Hostile.MAX_MEMORY);
      }
    })).isLessThan(Hostile.MAX_MEMORY);
    long events = 20L * corpus.size();
    assertThat(query("SELECT (SELECT count(DISTINCT serial) FROM \"test.serial\"), (SELECT archived FROM ledger"
            + " WHERE host = 'host'), (SELECT missing FROM ledger WHERE host = 'host'), (SELECT count(*) FROM"
            + " \"hostile.swollen\"), (SELECT count(*) FROM \"hostile.conflict\")"))
        .containsExactly(events + " " + events + " 0 262144 302");
  }

  /** Returns the next offset. */
  private long assertDue(Hostile hostile, ArchiveWriter writer, long offset) throws Exception {
    Map<String, Integer> outcomes = new TreeMap<>();
    rejections.clear();
    for (byte[] batch : hostile.batches()) {
      Appended appended = writer.append(Archives.at(offset++), batch);
      if (appended != Appended.REJECTED) {
        outcomes.merge(appended.name().toLowerCase(Locale.ROOT), 1, Integer::sum);
      }
    }
    rejections.forEach(rejection -> outcomes.merge(rejection.code(), 1, Integer::sum));
    assertThat(outcomes).as(hostile.name()).isEqualTo(hostile.due());
    assertThat(rejections).as(hostile.name()).allMatch(rejection -> !rejection.message().isEmpty());
    return offset;
  }

  @Test
  void aBatchThatContradictsAnEarlierOneIsRejectedAsConflict() throws Exception {
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
      assertThat(writer.append(Archives.at(1), Archives.serials(EMITTER, 1, 11))).isEqualTo(Appended.REJECTED);
    }
    assertThat(rejections).extracting(Rejection::code).containsExactly("conflict");
    assertThat(query(SERIALS)).containsExactly("10 10 0 9");
  }

  /** A spool sends batches again to another partition once the topic has more of them; a hostile one copies any. */
  @Test
  void aBatchCountsOnceInWhicheverPartitionsItComes() throws Exception {
    byte[] batch = Archives.serials(EMITTER, 1, 10);
    try (ArchiveWriter writer = open()) {
      writer.nextOffset(0);
      writer.append(Archives.at(0), batch);
      assertThat(writer.append(at(1, 0), batch)).as("not stored yet").isEqualTo(Appended.DUPLICATE);
      writer.roll();
      assertThat(writer.append(at(2, 0), batch)).as("stored").isEqualTo(Appended.DUPLICATE);
    }
    try (ArchiveWriter writer = open()) {
      writer.nextOffset(0);
      assertThat(writer.append(at(3, 0), batch)).isEqualTo(Appended.DUPLICATE);
      assertThat(writer.append(at(3, 1), Archives.serials(EMITTER, 2, 10))).isEqualTo(Appended.ACCEPTED);
      assertThat(writer.append(Archives.at(1), Archives.serials(EMITTER, 2, 10))).isEqualTo(Appended.DUPLICATE);
      writer.append(at(3, 2), Archives.serials(EMITTER, 1, 11));
    }
    assertThat(rejections).extracting(Rejection::code).containsExactly("conflict");
    assertThat(query(SERIALS)).containsExactly("20 20 0 19");
  }

  private static Position at(int partition, long offset) {
    return new Position(partition, offset, Archives.at(offset).brokerTimeMs());
  }

  /** Checksums that are no longer in memory come from the archive itself, by one query per storing. */
  @Test
  void aConflictIsOneHoweverLateItComesAlsoAfterARestart() throws Exception {
    int batches = 300;
    try (ArchiveWriter writer = open()) {
      for (int i = 0; i < batches; i++) {
        writer.append(Archives.at(i), Archives.serials(EMITTER, i + 1, 2));
      }
    }
    try (ArchiveWriter writer = open()) {
      for (int i = 0; i < batches; i++) {
        assertThat(writer.append(Archives.at(batches + 2 * i), Archives.serials(EMITTER, i + 1, 2)))
            .isEqualTo(Appended.DUPLICATE);
        writer.append(Archives.at(batches + 2 * i + 1), Archives.serials(EMITTER, i + 1, 1));
      }
      writer.append(Archives.at(5_000), Archives.serials(EMITTER, batches + 1, 2));
    }
    assertThat(rejections).hasSize(batches).extracting(Rejection::code).containsOnly("conflict");
    assertThat(rejections).extracting(rejection -> rejection.position().offset()).doesNotHaveDuplicates()
        .allMatch(offset -> offset % 2 == 1);
    assertThat(query(SERIALS)).containsExactly("602 602 0 601");
  }

  @Test
  void lateConflictsAreReportedOnceAlsoIfThatFailsHalfwayThrough() throws Exception {
    try (ArchiveWriter writer = open()) {
      for (int i = 0; i < 3; i++) {
        writer.append(Archives.at(i), Archives.serials(EMITTER, i + 1, 2));
      }
    }
    boolean[] failed = new boolean[1];
    ArchiveFeed feed = rejection -> {
      if (rejections.size() == 1 && !failed[0]) {
        failed[0] = true;
        throw new IllegalStateException("the broker is away");
      }
      rejections.add(rejection);
    };
    try (ArchiveWriter writer = archive(defaultRoll()).open(feed)) {
      for (int i = 0; i < 3; i++) {
        writer.append(Archives.at(i + 3), Archives.serials(EMITTER, i + 1, 1));
      }
      assertThatThrownBy(writer::roll).hasMessage("the broker is away");
    }
    assertThat(rejections).extracting(rejection -> rejection.position().offset()).containsExactly(3L, 4L, 5L);
  }

  /** Also detects conflicts with recent batches that are neither in memory nor stored yet. */
  @Test
  void aConflictWithABatchThatIsNotStoredYetIsOne() throws Exception {
    try (ArchiveWriter writer = open()) {
      for (int i = 0; i < 300; i++) {
        writer.append(Archives.at(i), Archives.serials(EMITTER, i + 1, 2));
      }
      assertThat(writer.append(Archives.at(300), Archives.serials(EMITTER, 1, 1))).isEqualTo(Appended.REJECTED);
      assertThat(writer.append(Archives.at(301), Archives.serials(EMITTER, 1, 2))).isEqualTo(Appended.DUPLICATE);
    }
  }

  /** With any number of gaps, and also after the archive is reopened. */
  @Test
  void whatComesLateForAGapIsArchived() throws Exception {
    int gaps = 10_010;
    try (ArchiveWriter writer = open()) {
      for (int i = 0; i < gaps; i++) {
        assertThat(writer.append(Archives.at(i), Archives.batch(EMITTER, 2L * i + 1).toByteArray()))
            .isEqualTo(Appended.ACCEPTED);
      }
    }
    try (ArchiveWriter writer = open()) {
      for (long sequence : new long[] {2, 10_000, 2L * gaps}) {
        assertThat(writer.append(Archives.at(gaps + sequence), Archives.batch(EMITTER, sequence).toByteArray()))
            .isEqualTo(Appended.ACCEPTED);
      }
    }
    assertThat(rejections).isEmpty();
    assertThat(query("SELECT batches FROM ledger")).containsExactly("10013");
  }

  @Test
  void whatIsStoredIsCountedOnceHoweverOftenItWasTaken() throws Exception {
    List<ArchiveFeed.Stored> stored = new ArrayList<>();
    ArchiveFeed feed =
        new ArchiveFeed() {
          @Override
          public void reject(Rejection rejection) {}

          @Override
          public void stored(Stored what) {
            stored.add(what);
          }
        };
    for (boolean dies : new boolean[] {true, false}) {
      try (ArchiveWriter writer = archive(defaultRoll()).open(feed)) {
        writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
        writer.append(Archives.at(1), Archives.serials(EMITTER, 1, 10));
        writer.append(Archives.at(2), new byte[1]);
        if (dies) {
          writer.abandon();
        }
      }
    }
    assertThat(stored).containsExactly(new ArchiveFeed.Stored(0, 1, 10, 1, 1));
  }

  @Test
  void onlyRejectedMessagesStillMoveThePositionOn() throws Exception {
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(4), new byte[] {1});
      assertThat(writer.isStored()).as("although no event is held").isFalse();
      writer.roll();
      assertThat(writer.isStored()).isTrue();
    }
    try (ArchiveWriter writer = open()) {
      assertThat(writer.nextOffset(0)).isEqualTo(5);
    }
  }

  @Test
  void whatIsHeldIsStoredWhenItIsOldEnough() throws Exception {
    try (ArchiveWriter writer =
        archive(defaultRoll().withInterval(Duration.ofHours(10))).open(rejections::add)) {
      long now = System.nanoTime();
      assertThat(writer.rollIfDue(now + hours(15))).isFalse();
      writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
      assertThat(writer.rollIfDue(now + hours(5))).isFalse();
      assertThat(writer.rollIfDue(now + hours(15))).isTrue();
      assertThat(writer.rollIfDue(now + hours(30))).isFalse();
      assertThat(query(SERIALS)).containsExactly("10 10 0 9");
    }
  }

  private static long hours(int hours) {
    return Duration.ofHours(hours).toNanos();
  }

  @Test
  void emittersThatHaveBeenSilentForLongAreForgottenSoThatMemoryIsBounded() throws Exception {
    byte[] batch = Archives.serials(EMITTER, 1, 10);
    long now = System.nanoTime();
    try (ArchiveWriter writer =
        archive(defaultRoll().withRemembered(Duration.ofDays(1))).open(rejections::add)) {
      writer.append(Archives.at(0), batch);
      writer.rollIfDue(now + hours(23));
      assertThat(writer.append(Archives.at(1), batch)).isEqualTo(Appended.DUPLICATE);
      writer.rollIfDue(now + hours(25));
      assertThat(writer.append(Archives.at(2), batch)).isEqualTo(Appended.ACCEPTED);
    }
  }

  /** A program that has ended leaves a few bytes in memory; what it repeats is compared with the archive. */
  @Test
  void routesThatHaveEndedLeaveMemoryAndAreKnown() throws Exception {
    int programs = 300;
    try (PartitionedWriter writer = (PartitionedWriter) open()) {
      for (int program = 0; program < programs; program++) {
        writer.append(Archives.at(program), ended(program, 1));
      }
      writer.append(Archives.at(programs), Archives.serials(EMITTER, 1, 1));
      assertThat(writer.routesInMemory()).isEqualTo(programs + 1);
      writer.roll();
      assertThat(writer.routesInMemory()).as("the one that has not ended").isEqualTo(1);
      assertThat(writer.append(Archives.at(1_000), ended(7, 1))).isEqualTo(Appended.DUPLICATE);
      assertThat(writer.append(Archives.at(1_001), ended(8, 2))).isEqualTo(Appended.DUPLICATE);
      writer.roll();
      assertThat(rejections).singleElement().extracting(rejection -> rejection.position().offset()).isEqualTo(1_001L);
      assertThat(writer.routesInMemory()).isEqualTo(1);
    }
    try (PartitionedWriter writer = (PartitionedWriter) open()) {
      assertThat(writer.append(Archives.at(1_002), ended(9, 1))).isEqualTo(Appended.DUPLICATE);
      writer.roll();
      assertThat(writer.routesInMemory()).isEqualTo(1);
    }
  }

  private static byte[] ended(int program, long value) {
    return Archives.batch(new Incarnation(77, program), 1).finalBatch(true).event(Archives.SERIAL, 1, value, 1)
        .toByteArray();
  }

  @Test
  void whatIsHeldStaysBelowItsLimit() throws Exception {
    long limit = 2 << 20;
    long highest = 0;
    try (ArchiveWriter writer = archive(defaultRoll().withBytes(limit)).open(rejections::add)) {
      for (int i = 0; i < 100; i++) {
        Incarnation incarnation = new Incarnation(9, i % 3);
        writer.append(new Position(i % 3, i, 0), Archives.serials(incarnation, i / 3 + 1, 2_000));
        highest = Math.max(highest, writer.heldBytes());
      }
    }
    assertThat(highest).isGreaterThan(limit / 2).isLessThan(2 * limit);
    assertThat(query("SELECT count(*) FROM events")).containsExactly("200000");
  }

  @Test
  void releasedPartitionsAreReadAgainByTheirNextOwner() throws Exception {
    try (ArchiveWriter first = open(); ArchiveWriter second = open()) {
      first.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
      first.release(0);
      assertThat(second.nextOffset(0)).isZero();
      second.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
    }
    assertThat(query(SERIALS)).containsExactly("10 10 0 9");
  }

  @Test
  void twoWritersCannotHaveTheSamePartition() throws Exception {
    try (ArchiveWriter first = open(); ArchiveWriter second = open()) {
      first.nextOffset(0);
      assertThatThrownBy(() -> second.nextOffset(0)).isInstanceOf(ArchiveCollisionException.class)
          .hasMessageStartingWith("partition 0 of the archive")
          .hasMessageContaining("is in use by another writer")
          .hasMessageContaining("stop that one, or give this one another archive.");
      assertThat(second.nextOffset(1)).isZero();
    }
  }

  /** Each has types of its own to make room for, and one that all have. */
  @Test
  void writersOnSeveralThreadsShareAnArchive() throws Exception {
    int writers = 3;
    Archive archive = archive(defaultRoll());
    ExecutorService threads = Executors.newFixedThreadPool(writers);
    try {
      List<Future<?>> writing = new ArrayList<>();
      for (int i = 0; i < writers; i++) {
        int writer = i;
        writing.add(threads.submit(() -> writePartition(archive.share(writer, writers), writer)));
      }
      for (Future<?> each : writing) {
        each.get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(query("SELECT count(*), count(DISTINCT incarnation || '/' || serial) FROM \"test.serial\""))
        .as("wrong books: serials").containsExactly("1500 1500");
    assertThat(query("SELECT batches, archived, missing_batches FROM ledger")).as("wrong books: ledger")
        .containsExactly("50 550 0", "50 550 0", "50 550 0");
  }

  /** Stores 50 batches in ten steps: of ten events and one of a type that no other batch has. */
  private static Void writePartition(Archive archive, int partition) throws Exception {
    try (ArchiveWriter writer = archive.open(rejection -> {
      throw new AssertionError(rejection.toString());
    })) {
      for (int i = 0; i < 50; i++) {
        BatchWriter batch = Archives.batch(new Incarnation(5, partition), i + 1).event(
            EventType.named("own." + partition + "." + i).field("n", FieldType.I64).build(), 0, (long) i);
        for (int event = 0; event < 10; event++) {
          batch.event(Archives.SERIAL, event, 10L * i + event, 1);
        }
        writer.append(new Position(partition, i, 1_790_000_000_000L), batch.toByteArray());
        if (i % 5 == 4) {
          writer.roll();
        }
      }
    }
    return null;
  }

  @Test
  void whenLocksFailThePositionStopsTheSecondWriterAndKeepsTheFirstOnesEvents() throws Exception {
    try (ArchiveWriter loser = open()) {
      loser.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
      loseLock(0);
      try (ArchiveWriter winner = open()) {
        winner.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
        winner.append(Archives.at(1), Archives.serials(EMITTER, 2, 10));
      }
      assertThatThrownBy(loser::roll).isInstanceOf(ArchiveCollisionException.class)
          .hasMessageContaining("another writer has already archived partition 0 from offset 0")
          .hasMessageContaining("stop one of the two");
      loser.abandon();
    }
    assertThat(query(SERIALS)).containsExactly("20 20 0 19");
  }

  @Test
  void countsPerRouteFollowWhatIsStored() throws Exception {
    var counts = archive(defaultRoll()).counts();
    assertThat(counts.count()).isEmpty();
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
      assertThat(counts.count()).isEmpty();
      writer.roll();
      assertThat(counts.count()).isEqualTo(Map.of(new RouteKey(EMITTER, 0), 10L));
      assertThat(counts.ends()).isEqualTo(Map.of(0, 1L));
      writer.append(Archives.at(1), Archives.serials(EMITTER, 2, 10));
      writer.append(Archives.at(7), Archives.batch(EMITTER, 1).route(3, "extra").event(Archives.SERIAL, 1, 1, 1)
          .toByteArray());
    }
    assertThat(counts.count()).isEqualTo(Map.of(new RouteKey(EMITTER, 0), 20L, new RouteKey(EMITTER, 3), 1L));
    assertThat(counts.ends()).as("with the messages that it did not get").isEqualTo(Map.of(0, 8L));
  }

  @Test
  void theLedgerHasTheLatestCountersOfEachRoute() throws Exception {
    for (int sequence : new int[] {1, 3, 2}) {
      try (ArchiveWriter writer = open()) {
        writer.append(Archives.at(writer.nextOffset(0)), Archives.batch(EMITTER, sequence).finalBatch(sequence == 3)
            .counter(Counter.EMITTED, sequence * 10L).counter(Counter.DROPPED_RING_FULL, sequence)
            .event(Archives.SERIAL, sequence, sequence, 1).toByteArray());
      }
    }
    assertThat(query("SELECT emitted, archived, dropped, dropped_ring_full, missing, missing_batches, last_sequence"
            + " FROM ledger WHERE final")).containsExactly("30 3 3 3 24 0 3");
  }

  @Test
  void contextAndCountersOfEachBatchAreKept() throws Exception {
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(5), Archives.batch(EMITTER, 1).context("session", "it's \"one\"")
          .counter(Counter.SAMPLED_OUT, 4).event(Archives.SERIAL, 1, 1, 1).toByteArray());
    }
    assertThat(query("SELECT \"offset\", context->>'session', sampled_out, events FROM batches"))
        .containsExactly("5 it's \"one\" 4 1");
  }

  @Test
  void aSessionHasTheEventsOfItsProgramsItsHostsAndItsChildren() throws Exception {
    SessionScene.archive(open());
    assertThat(query("SELECT session, parent, name, ok, hosts, programs, events FROM sessions ORDER BY session"))
        .map(row -> row.replace("true", "t"))
        .containsExactly(SessionScene.OUTER + " null outer t a, b copy, part, program 6",
            SessionScene.INNER + " " + SessionScene.OUTER + " inner null b part 3",
            "copy 42 null null null host program 1");
    assertThat(query("SELECT count(*) FROM sessions WHERE started IS NOT NULL AND first_seen = last_seen"))
        .containsExactly("2");
    assertThat(query("SELECT session, via, type, host FROM session_events ORDER BY session, ts, via, host"))
        .containsExactly(
            SessionScene.OUTER + " session session.start a", SessionScene.OUTER + " session work a",
            SessionScene.OUTER + " host host.cpu a", SessionScene.OUTER + " session host.cpu b",
            SessionScene.OUTER + " session session.start b", SessionScene.OUTER + " session work b",
            SessionScene.OUTER + " session tcp.info b", SessionScene.OUTER + " host host.cpu b",
            SessionScene.OUTER + " session session.end a",
            SessionScene.INNER + " session host.cpu b", SessionScene.INNER + " session session.start b",
            SessionScene.INNER + " session work b", SessionScene.INNER + " session tcp.info b",
            "copy 42 session work host");
    assertThat(query("SELECT count(*) FROM session_events WHERE session = '" + SessionScene.OUTER + "' AND ts_ns >= "
        + SessionScene.time(250))).containsExactly("2");
  }

  @Test
  void aFieldSessionThatIsNoIdLeavesItsEventInTheSessionOfTheBatch() throws Exception {
    EventType login = EventType.named("login").field("session", FieldType.STRING).build();
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), Archives.batch(EMITTER, 1).context("session", SessionScene.OUTER)
          .event(login, 1, "42").event(login, 2, SessionScene.INNER).event(login, 3, "").toByteArray());
      writer.append(Archives.at(1), Archives.batch(EMITTER, 2).context("session", SessionScene.INNER)
          .event(Archives.SERIAL, 1, 1, 1).toByteArray());
    }
    assertThat(query("SELECT session, event_index FROM session_events WHERE type = 'login' ORDER BY event_index"))
        .containsExactly(SessionScene.OUTER + " 0", SessionScene.INNER + " 1", SessionScene.OUTER + " 2");
  }

  @Test
  void sessionsThatContainEachOtherAreStillListed() throws Exception {
    try (ArchiveWriter writer = open()) {
      for (int i = 0; i < 40; i++) { // 20 that name each other, and 20 of which each began in the one before
        String parent = String.valueOf(i < 20 ? (i + 1) % 20 : Math.max(i - 1, 20));
        writer.append(Archives.at(i), Archives.batch(EMITTER, i + 1).context("session", String.valueOf(i))
            .context("parent", parent).event(Archives.SERIAL, 1, 1, 1).toByteArray());
      }
    }
    assertThat(query("SELECT count(*), count(DISTINCT session) FROM sessions")).containsExactly("40 40");
    assertThat(query("SELECT count(*) FROM session_members WHERE session = '20'")).containsExactly("17");
    assertThat(query("SELECT count(*) FROM session_members WHERE session = '0'")).containsExactly("17");
  }

  @Test
  void aBatchWithoutEventsIsArchivedForItsCounters() throws Exception {
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), Archives.batch(EMITTER, 1).counter(Counter.FOLDED, 9).toByteArray());
    }
    assertThat(query("SELECT folded, archived FROM ledger")).containsExactly("9 0");
    assertThat(query("SELECT count(*) FROM events")).containsExactly("0");
  }

  @Test
  void aTypeThatGetsAnotherFieldKeepsItsTable() throws Exception {
    EventType first = EventType.named("io").field("id", FieldType.U32).field("n", FieldType.I32).build();
    EventType second = EventType.named("io").field("n", FieldType.I32).field("extra", FieldType.F64)
        .field("id", FieldType.U32).constant("unit", FieldType.STRING, "", "ms").build();
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), Archives.batch(EMITTER, 1).event(first, 1, 1, 10).toByteArray());
      writer.roll();
      writer.append(Archives.at(1),
          Archives.batch(EMITTER, 2).event(first, 2, 2, 20).event(second, 3, 30, 0.5, 3).toByteArray());
    }
    assertThat(query("SELECT id, n, extra, unit FROM io ORDER BY ts"))
        .containsExactly("1 10 null null", "2 20 null null", "3 30 0.5 ms");
    assertThat(query("SELECT id, fields->>'n', fields->>'extra', fields->>'unit', fields->>'none' FROM events"
            + " ORDER BY ts"))
        .containsExactly("1 10 null null null", "2 20 null null null", "3 30 0.5 ms null");
  }

  @Test
  void eventsWithTheSameIdMakeALifeline() throws Exception {
    EventType read = EventType.named("disk.read").field("id", FieldType.I64).build();
    EventType sent = EventType.named("net.send").field("id", FieldType.STRING).build();
    EventType other = EventType.named("other").field("n", FieldType.I32).build();
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), Archives.batch(EMITTER, 1).event(read, 1_000, 7L).event(read, 1_100, 8L)
          .event(other, 1_150, 7).event(sent, 1_250, "7").toByteArray());
      writer.append(Archives.at(1), Archives.batch(new Incarnation(8, 8), 1).event(read, 1_251, 7L).toByteArray());
    }
    assertThat(query("SELECT step, type, since_previous_ns, since_first_ns FROM lifelines WHERE id = '7' ORDER BY step"))
        .containsExactly("1 disk.read null 0", "2 net.send 250 250", "3 disk.read 1 251");
  }

  /** All in one archive: to write and to open one for each name takes most of the time. */
  @Test
  void namesThatNeedQuotingAreNamesAndNothingElse() throws Exception {
    List<String> names = List.of("a\"; DROP VIEW ledger; --", "'; COPY (SELECT 1) TO 'x'; --", "x'y\"z", "..", "a b",
        "SELECT", "%s%n", "漢字", "\\", "{}", "$1", "?", ":name", "a\nb", "CamelCase", "a\0b", "\0", "\u202Eb");
    try (ArchiveWriter writer = open()) {
      for (int i = 0; i < names.size(); i++) {
        String name = names.get(i);
        EventType type = EventType.named(name).field(name, FieldType.I32, name)
            .constant(name + "c", FieldType.STRING, "", name).build();
        writer.append(Archives.at(i), Archives.batch(new Incarnation(7, i), 1).host(name).program(name)
            .context(name, name).event(type, 1, i).toByteArray());
      }
    }
    List<String> clean = names.stream().map(name -> name.replace('\0', '\uFFFD')).toList(); // SQL's have no NUL
    for (int i = 0; i < names.size(); i++) {
      String quoted = '"' + clean.get(i).replace("\"", "\"\"") + '"';
      assertThat(query("SELECT " + quoted + " FROM " + quoted)).as(quoted).containsExactly(Integer.toString(i));
    }
    assertThat(query("SELECT type, host FROM events"))
        .containsExactlyInAnyOrderElementsOf(clean.stream().map(name -> name + " " + name).toList());
    assertThat(query("SELECT host FROM emitters")).containsExactlyInAnyOrderElementsOf(clean);
    assertThat(query("SELECT program FROM batches")).containsExactlyInAnyOrderElementsOf(clean);
  }

  @Test
  void fieldsThatAreCalledLikeTheEventsOwnColumnsGetAnotherName() throws Exception {
    EventType type =
        EventType.named("generator").field("sequence", FieldType.U64).field("host", FieldType.STRING).build();
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), Archives.batch(EMITTER, 9).event(type, 1, 5, "h").toByteArray());
    }
    assertThat(query("SELECT sequence, field_sequence, host, field_host FROM generator"))
        .containsExactly("9 5 host h");
  }

  @Test
  void everyNumberAndTextComesBackAsItWasEmitted() throws Exception {
    EventType type = EventType.named("all").field("a", FieldType.I32).field("b", FieldType.I64)
        .field("c", FieldType.F32).field("d", FieldType.F64).field("e", FieldType.STRING).field("f", FieldType.U32)
        .field("g", FieldType.U64).field("h", FieldType.BOOL).field("i", FieldType.BYTES)
        .constant("k", FieldType.F64, "", -0.5).constant("l", FieldType.U64, "", -2L).build();
    BatchWriter batch = Archives.batch(EMITTER, 1)
        .event(type, 1, Integer.MIN_VALUE, Long.MIN_VALUE, Float.MAX_VALUE, 1.5, "é漢", 0xffffffffL, -1L,
            true, new byte[] {0, (byte) 0xff})
        .event(type, 2, Integer.MAX_VALUE, Long.MAX_VALUE, Float.NaN, Double.NEGATIVE_INFINITY, "", 0L, 0L, false,
            new byte[0])
        .event(type, 3, 0, 0L, 0.1f, 0.1, new byte[] {'a', (byte) 0xe9, 'b'}, 1L, 10_000L, false, new byte[] {1});
    try (ArchiveWriter writer = open()) {
      writer.append(Archives.at(0), batch.toByteArray());
    }
    assertThat(query("SELECT a, b, d, e, f, g, octet_length(i), k, l FROM \"all\" ORDER BY ts, event_index"))
        .containsExactly(
            "-2147483648 -9223372036854775808 1.5 é漢 4294967295 18446744073709551615 2 -0.5 18446744073709551614",
            "2147483647 9223372036854775807 -Infinity  0 0 0 -0.5 18446744073709551614",
            "0 0 0.1 a\uFFFDb 1 10000 1 -0.5 18446744073709551614");
    assertThat(query("SELECT count(*) FROM \"all\" WHERE h AND c > 3.4e38")).containsExactly("1");
    assertThat(query("SELECT fields->>'g', fields->>'k' FROM events ORDER BY ts, event_index LIMIT 1"))
        .containsExactly("18446744073709551615 -0.5");
  }

  @Test
  void aFullDiskIsAClearErrorAndTheSameWriterGoesOnWhenThereIsRoomAgain() throws Exception {
    try (SmallDisk disk = SmallDisk.mount()) {
      try (ArchiveWriter writer = archiveOn(disk).open(rejections::add)) {
        writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 1_000));
        writer.roll();
        Path ballast = disk.fill();
        writer.append(Archives.at(1), Archives.serials(EMITTER, 2, 20_000));
        Throwable failure = catchThrowable(writer::roll);
        assertThat(failure).isInstanceOf(ArchiveWriteException.class).hasMessageContaining("cannot write")
            .hasMessageContaining("No space left on device").hasMessageContaining("free space");
        assertThat(queryOn(disk, "SELECT count(*) FROM events")).containsExactly("1000");
        disk.delete(ballast);
        writer.roll();
      }
      assertThat(queryOn(disk, "SELECT count(*), count(DISTINCT serial) FROM \"test.serial\""))
          .containsExactly("21000 21000");
    }
  }

  @Test
  void afterAFullDiskANewWriterReadsTheSameBatchesAgain() throws Exception {
    try (SmallDisk disk = SmallDisk.mount()) {
      ArchiveWriter writer = archiveOn(disk).open(rejections::add);
      writer.append(Archives.at(0), Archives.serials(EMITTER, 1, 10));
      writer.roll();
      Path ballast = disk.fill();
      writer.append(Archives.at(1), Archives.serials(EMITTER, 2, 20_000));
      assertThat(catchThrowable(writer::close)).isInstanceOf(ArchiveWriteException.class);
      disk.delete(ballast);
      try (ArchiveWriter next = archiveOn(disk).open(rejections::add)) {
        assertThat(next.nextOffset(0)).isEqualTo(1);
        next.append(Archives.at(1), Archives.serials(EMITTER, 2, 20_000));
      }
      assertThat(queryOn(disk, "SELECT count(*), count(DISTINCT event_index) FROM \"test.serial\""))
          .containsExactly("20010 20000");
    }
  }
}
