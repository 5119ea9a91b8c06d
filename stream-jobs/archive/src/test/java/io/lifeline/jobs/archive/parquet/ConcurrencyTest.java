package io.lifeline.jobs.archive.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests a writer, a compactor and a reader working on one archive concurrently. */
@Tag("system")
@Timeout(300)
class ConcurrencyTest {
  private static final int ROLLS = 40;
  private static final int EVENTS = 100;

  @TempDir Path directory;

  @Test
  void aReaderSeesWholeRollsOnlyAndNeverLessThanBefore() throws Exception {
    ParquetOptions options = ParquetOptions.in(directory).withThreads(1).withRareRows(EVENTS / 2);
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try (ArchiveWriter writer = new ParquetArchive(options).open(rejection -> {})) {
      roll(writer);
      CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> rollOften(writer), threads);
      CompletableFuture<Integer> compacting =
          CompletableFuture.supplyAsync(() -> compactUntil(writing, options), threads);
      long seen = 0;
      while (!compacting.isDone()) {
        long now = Long.parseLong(Archives.query(directory, "SELECT count(*) FROM events").get(0));
        assertThat(now % EVENTS).as("wrong books: part of a roll").isZero();
        assertThat(now).as("wrong books: events").isGreaterThanOrEqualTo(seen);
        seen = now;
      }
      assertThat(compacting.get()).as("compactions that merged something").isPositive();
      writing.get();
    } finally {
      threads.shutdown();
    }
    assertThat(Archives.query(directory, "SELECT count(*), count(DISTINCT serial) FROM \"test.serial\""))
        .as("wrong books: serials").containsExactly((ROLLS + 1) * EVENTS + " " + (ROLLS + 1) * EVENTS);
  }

  private static void roll(ArchiveWriter writer) throws Exception {
    long offset = writer.nextOffset(0);
    writer.append(Archives.at(offset), Archives.serials(new Incarnation(1, 2), offset + 1, EVENTS));
    writer.roll();
  }

  private static void rollOften(ArchiveWriter writer) {
    try {
      for (int i = 0; i < ROLLS; i++) {
        roll(writer);
      }
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static int compactUntil(CompletableFuture<Void> writing, ParquetOptions options) {
    int merges = 0;
    try {
      boolean isLast;
      do {
        isLast = writing.isDone(); // even if this thread starts late, there is something to merge
        Compactor.Result result = new Compactor(options, 1 << 30, Duration.ofHours(1)).compact();
        merges += result.manifestsAfter() < result.manifestsBefore() ? 1 : 0;
      } while (!isLast);
      return merges;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
