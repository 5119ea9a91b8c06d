package io.lifeline.console.feed;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.console.events.EventLog;
import io.lifeline.console.index.Snapshot;
import io.lifeline.console.index.Span;
import io.lifeline.console.index.TraceIndex;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.TimeSpan;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.archive.sql.ArchiveDatabase;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.live.SeenBatches;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads real archives. */
class ArchiveHistoryTest {
  private static final EventType STEP = EventType.named("step").field("id", FieldType.U64).build();
  private static final long NOW = 1_790_000_000_000_000_000L;
  /** The events of these batches are a nanosecond apart. */
  private static final int EVENTS = 1_000;

  @TempDir Path directory;

  /** Archives one batch per time. */
  private void archive(long... times) throws Exception {
    archive(0, times);
  }

  private void archive(int before, long... times) throws Exception {
    try (ArchiveWriter writer = new ParquetArchive(ParquetOptions.in(directory).withThreads(1)).open(rejection -> {})) {
      for (int i = before; i < before + times.length; i++) {
        BatchWriter batch = new BatchWriter().incarnation(new Incarnation(1, 2)).sequence(i + 1).host("here")
            .program("walker").pid(42).calibration(0, 0, times[i - before], 0, false)
            .counter(Counter.EMITTED, (long) (i + 1) * EVENTS);
        for (int event = 0; event < EVENTS; event++) {
          batch.event(STEP, event, (long) i * EVENTS + event);
        }
        writer.append(new Position(0, i, NOW / 1_000_000), batch.toByteArray());
      }
    }
  }

  @Test
  void slicesHoldEachEventOnceAndAreInOrderEvenIfTimesAreSixCenturiesApart() throws Exception {
    archive(Long.MIN_VALUE / 2 - NOW, -NOW, NOW, NOW + 500, NOW + 3_600_000_000_000L, Long.MAX_VALUE - NOW);
    try (ArchiveDatabase database = ArchiveDatabase.open(directory)) {
      Slices slices = Slices.of(database, TimeSpan.ALL, Long.MAX_VALUE, EVENTS);
      long count = 0;
      for (int i = 0; i < slices.spans().size(); i++) {
        Slices.Slice slice = slices.spans().get(i);
        assertThat(i == 0 || slices.spans().get(i - 1).toNs() < slice.fromNs()).isTrue();
        try (var query = database.prepare("SELECT count(*) FROM events WHERE "
                + database.within(slice.fromNs(), slice.toNs()));
            var row = query.executeQuery()) {
          row.next();
          count += row.getLong(1);
        }
      }
      assertThat(count).isEqualTo(6L * EVENTS).isEqualTo(slices.events());
      assertThat(slices.spans()).hasSizeBetween(3, 6);
    }
  }

  @Test
  void theNewestEventsAreReadIfThereIsNoRoomForAll() throws Exception {
    archive(NOW, NOW + 1_000_000, NOW + 2_000_000, NOW + 3_000_000);
    TraceIndex index = new TraceIndex(1_000_000);
    SeenBatches seen = new SeenBatches();
    try (ArchiveDatabase database = ArchiveDatabase.open(directory)) {
      new ArchiveHistory(database, index, seen, new LoadProgress(true)).load(EVENTS + 1);
    }
    assertThat(index.added()).isBetween(EVENTS + 1L, 3L * EVENTS);
    Span span = index.read(Snapshot::span);
    assertThat(span.to()).isEqualTo(NOW + 3_000_000 + EVENTS - 1);
    assertThat(span.from()).isGreaterThan(NOW + EVENTS);
    assertThat(index.<List<String>>read(snapshot -> List.of(snapshot.origins().get(0).program(),
        snapshot.kinds().get(0).name(), snapshot.kinds().get(0).level()))).containsExactly("walker", "step", "info");
    assertThat(seen.add(new Incarnation(1, 2), 0, 4)).as("a batch that was read").isFalse();
    assertThat(seen.add(new Incarnation(1, 2), 0, 1)).as("a batch that was not").isTrue();
  }

  @Test
  void onlyTheFilesOfTheNewestEventsAreRead() throws Exception {
    archive(NOW, NOW + 1_000_000);
    List<Path> older;
    try (Stream<Path> files = Files.walk(directory)) {
      older = files.filter(file -> file.toString().endsWith(".parquet")).toList();
    }
    archive(2, NOW + 2_000_000, NOW + 3_000_000);
    TraceIndex index = new TraceIndex(1_000_000);
    try (ArchiveDatabase database = ArchiveDatabase.open(directory)) {
      for (Path file : older) {
        Files.delete(file);
      }
      new ArchiveHistory(database, index, new SeenBatches(), new LoadProgress(true)).load(2 * EVENTS);
    }
    assertThat(index.added()).isEqualTo(2 * EVENTS);
  }

  /** Opening an archive may take seconds, and its events are not there until then. */
  @Test
  void anArchiveIsBeingReadFromTheBeginning() throws Exception {
    TraceIndex index = new TraceIndex(10);
    EventLog log = new EventLog(1 << 10);
    try (Feed feed = new Feed(index, log, () -> ArchiveDatabase.open(directory), null, null, Duration.ZERO, 10);
        Feed live = new Feed(index, log, null, null, null, Duration.ZERO, 10)) {
      assertThat(feed.progress().loading()).isTrue();
      assertThat(feed.progress().share()).isZero();
      assertThat(live.progress().loading()).isFalse();
    }
  }
}
