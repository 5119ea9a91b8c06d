package io.lifeline.jobs.archive.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.Appended;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.servers.PostgresServer;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a full roll is stored while the next one is filled. */
@Tag("system")
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StoringAheadTest {
  private static final long BYTES = 2 << 20;
  private static final int EVENTS = 1_000;

  private static final String SERIALS = "SELECT count(*), count(DISTINCT serial) FROM \"test.serial\"";

  private final String schema = PostgresDatabases.newSchema();

  @TempDir Path directory;

  private ArchiveWriter open(Consumer<StoreStep> progress) throws Exception {
    PostgresOptions options = PostgresDatabases.options(schema, PostgresOptions.DEFAULT_ROLL.withBytes(BYTES));
    return new PostgresArchive(options).open(rejection -> {}, progress, () -> PostgresDatabases.NOW_MS);
  }

  private static byte[] batch(long offset) {
    return Archives.serials(new Incarnation(3, 4), offset + 1, EVENTS);
  }

  private void assertThatThereAre(long batches) throws Exception {
    assertThat(PostgresDatabases.query(schema, SERIALS))
        .as("wrong books: serials").containsExactly(batches * EVENTS + " " + batches * EVENTS);
  }

  @Test
  void batchesAreTakenWhileTheServerIsBusy() throws Exception {
    CountDownLatch storing = new CountDownLatch(1);
    CountDownLatch answer = new CountDownLatch(1);
    try (ArchiveWriter writer = open(step -> {
      if (step == StoreStep.POSITION_MOVED) {
        storing.countDown();
        await(answer);
      }
    })) {
      while (writer.heldBytes() < BYTES / 2) {
        writer.append(Archives.at(writer.nextOffset(0)), batch(writer.nextOffset(0)));
      }
      // The next batch starts storing. Further batches must wait until the server is busy as the test requires: enough
      // of them would fill the memory, and then the writer would wait for the server, which waits for the test.
      writer.append(Archives.at(writer.nextOffset(0)), batch(writer.nextOffset(0)));
      storing.await();
      long taken = writer.nextOffset(0);
      writer.append(Archives.at(taken), batch(taken));
      assertThat(writer.nextOffset(0)).isEqualTo(taken + 1);
      assertThat(writer.durableOffset(0)).isZero();
      assertThat(writer.heldBytes()).isLessThan(BYTES);
      answer.countDown();
      writer.roll();
      assertThat(writer.durableOffset(0)).isEqualTo(taken + 1);
      assertThat(writer.heldBytes()).isLessThan(BYTES / 10);
      assertThatThereAre(taken + 1);
    }
  }

  @Test
  void whatFailedMeanwhileIsToldByALaterCallAndStoredByTheNextOne() throws Exception {
    AtomicInteger stored = new AtomicInteger();
    int failures = 0;
    try (ArchiveWriter writer = open(step -> {
      if (step == StoreStep.ROWS_COPIED && stored.incrementAndGet() == 3) {
        throw new IllegalStateException("the third roll fails once");
      }
    })) {
      for (long offset = 0; offset < 100; ) {
        try {
          assertThat(writer.append(Archives.at(offset), batch(offset))).isEqualTo(Appended.ACCEPTED);
          offset++;
        } catch (IllegalStateException e) {
          assertThat(writer.nextOffset(0)).as("the message was not taken").isEqualTo(offset);
          failures++;
        }
      }
    }
    assertThat(failures).isEqualTo(1);
    assertThatThereAre(100);
  }

  @Test
  void whatWasBegunIsStoredAlsoWhenTheWriterIsAbandoned() throws Exception {
    long durable;
    try (ArchiveWriter writer = open(step -> {})) {
      for (long offset = 0; offset < 30; offset++) {
        writer.append(Archives.at(offset), batch(offset));
      }
      writer.abandon();
    }
    try (ArchiveWriter writer = open(step -> {})) {
      durable = writer.nextOffset(0);
    }
    assertThat(durable).isBetween(1L, 29L);
    assertThatThereAre(durable);
  }

  @Test
  void whatIsStoredAheadBecomesDurableWithoutAPause() throws Exception {
    try (ArchiveWriter writer = open(step -> {})) {
      for (long offset = 0; writer.durableOffset(0) == 0; offset++) {
        writer.append(Archives.at(offset), batch(offset));
      }
      assertThat(writer.durableOffset(0)).isLessThan(writer.nextOffset(0));
    }
  }

  @Test
  void aServerThatIsKilledLosesNothingDurableAndDoublesNothing() throws Exception {
    try (PostgresServer server = PostgresServer.start(directory.resolve("server"))) {
      PostgresArchive archive = new PostgresArchive(
          PostgresDatabases.options(server.url(), server.passwordFile(), schema)
              .withRoll(PostgresOptions.DEFAULT_ROLL.withBytes(BYTES)));
      long durable;
      try (ArchiveWriter writer = archive.open(rejection -> {})) {
        for (long offset = 0; offset < 200; offset++) {
          writer.append(Archives.at(offset), batch(offset));
          if (offset == 30) {
            writer.roll();
          }
        }
        durable = writer.durableOffset(0);
        server.kill();
        writer.abandon();
      }
      server.start();
      try (ArchiveWriter writer = archive.open(rejection -> {})) {
        assertThat(durable).isBetween(31L, writer.nextOffset(0));
        for (long offset = writer.nextOffset(0); offset < 200; offset++) {
          writer.append(Archives.at(offset), batch(offset));
        }
      }
      assertThat(PostgresDatabases.query(server, schema, SERIALS)).as("wrong books: serials")
          .containsExactly(200 * EVENTS + " " + 200 * EVENTS);
      assertThat(PostgresDatabases.query(server, schema, "SELECT missing_batches, batches FROM ledger"))
          .as("wrong books: ledger").containsExactly("0 200");
    }
  }

  @Test
  void whatTheFormerWriterStoredIsDurableOnceTheNextOneHasThePartition() throws Exception {
    try (PostgresServer server = PostgresServer.start(directory.resolve("server"))) {
      server.administer("ALTER SYSTEM SET wal_writer_delay = '10s'", "SELECT pg_reload_conf()");
      PostgresArchive archive = new PostgresArchive(
          PostgresDatabases.options(server.url(), server.passwordFile(), schema)
              .withRoll(PostgresOptions.DEFAULT_ROLL.withBytes(BYTES)));
      try (ArchiveWriter writer = archive.open(rejection -> {})) {
        for (long offset = 0; offset < 100; offset++) {
          writer.append(Archives.at(offset), batch(offset));
        }
        writer.abandon();
      }
      long durable;
      try (ArchiveWriter writer = archive.open(rejection -> {})) {
        durable = writer.durableOffset(0);
        server.kill();
        writer.abandon();
      }
      server.start();
      try (ArchiveWriter writer = archive.open(rejection -> {})) {
        assertThat(durable).isPositive();
        assertThat(writer.nextOffset(0)).isEqualTo(durable);
      }
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
