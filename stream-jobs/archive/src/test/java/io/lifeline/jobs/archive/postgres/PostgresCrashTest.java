package io.lifeline.jobs.archive.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveCollisionException;
import io.lifeline.jobs.archive.ArchiveUnavailableException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.servers.PostgresServer;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Kills writers and servers with SIGKILL, and looks whether each event is in the archive exactly once. */
@Timeout(120)
class PostgresCrashTest {
  private static final int BATCHES = 40;
  private static final int BATCHES_PER_ROLL = 10;
  private static final int EVENTS = 100;
  private static final String SERIALS =
      "SELECT count(*), count(DISTINCT serial), min(serial), max(serial) FROM \"test.serial\"";
  private static final String COMPLETE =
      BATCHES * EVENTS + " " + BATCHES * EVENTS + " 0 " + (BATCHES * EVENTS - 1);

  private final String schema = PostgresDatabases.newSchema();

  @TempDir Path directory;

  /** Archives what is missing of a topic of {@link #BATCHES} batches; stands still at a step of the second roll. */
  public static final class Child {
    public static void main(String[] arguments) throws Exception {
      int[] reached = new int[StoreStep.values().length];
      PostgresOptions options = PostgresDatabases.options(arguments[0], Path.of(arguments[1]), arguments[2]);
      try (ArchiveWriter writer = new PostgresArchive(options).open(rejection -> {}, now -> {
        if (now.name().equals(arguments[3]) && ++reached[now.ordinal()] == 2) {
          standStill();
        }
      }, () -> PostgresDatabases.NOW_MS)) {
        archive(writer);
      }
      System.out.println("done");
    }

    private static void standStill() {
      System.out.println("standing");
      try {
        TimeUnit.MINUTES.sleep(5);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static void archive(ArchiveWriter writer) throws Exception {
    for (long offset = writer.nextOffset(0); offset < BATCHES; offset++) {
      writer.append(Archives.at(offset), Archives.serials(new Incarnation(3, 4), offset + 1, EVENTS));
      if ((offset + 1) % BATCHES_PER_ROLL == 0) {
        writer.roll();
      }
    }
  }

  private Process child(String step) throws Exception {
    PostgresServer server = PostgresServer.shared();
    List<String> command = List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
        System.getProperty("java.class.path"), "-XX:TieredStopAtLevel=1", Child.class.getName(), server.url(),
        server.passwordFile().toString(), schema, step);
    return new ProcessBuilder(command).redirectError(new File("/dev/null")).start();
  }

  private ArchiveWriter open() throws Exception {
    return new PostgresArchive(PostgresDatabases.options(schema, PostgresOptions.DEFAULT_ROLL))
        .open(rejection -> {}, step -> {}, () -> PostgresDatabases.NOW_MS);
  }

  /** A server needs a moment to notice that its client has died, and only then frees the partition. */
  private void archiveTheRest() throws Exception {
    while (true) {
      try (ArchiveWriter writer = open()) {
        archive(writer);
        return;
      } catch (ArchiveCollisionException e) {
        TimeUnit.MILLISECONDS.sleep(50);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(StoreStep.class)
  void aWriterThatIsKilledAtAnyStepLeavesEachEventExactlyOnce(StoreStep step) throws Exception {
    Process child = child(step.name());
    try (BufferedReader out = new BufferedReader(new InputStreamReader(child.getInputStream()))) {
      assertThat(out.readLine()).as("the child reaches " + step).isEqualTo("standing");
    } finally {
      child.destroyForcibly();
      child.waitFor();
    }
    int events = (step == StoreStep.COMMITTED ? 2 : 1) * BATCHES_PER_ROLL * EVENTS;
    assertThat(PostgresDatabases.query(schema, SERIALS)).as("what a reader sees before the restart")
        .containsExactly(events + " " + events + " 0 " + (events - 1));
    archiveTheRest();
    assertThat(PostgresDatabases.query(schema, SERIALS)).containsExactly(COMPLETE);
  }

  @Test
  void aWriterThatIsKilledAtRandomMomentsLeavesEachEventExactlyOnce() throws Exception {
    Random random = new Random(11);
    for (int kill = 0; kill < 4; kill++) {
      Process child = child("none");
      boolean ended = child.waitFor(300 + random.nextInt(700), TimeUnit.MILLISECONDS);
      child.destroyForcibly();
      child.waitFor();
      if (ended) {
        break;
      }
    }
    archiveTheRest();
    assertThat(PostgresDatabases.query(schema, SERIALS)).containsExactly(COMPLETE);
    assertThat(PostgresDatabases.query(schema, "SELECT missing_batches, batches FROM ledger"))
        .containsExactly("0 40");
  }

  @Test
  void aServerThatIsKilledMidwayLosesNothingAndDoublesNothing() throws Exception {
    try (PostgresServer server = PostgresServer.start(directory.resolve("server"))) {
      PostgresArchive archive = new PostgresArchive(
          PostgresDatabases.options(server.url(), server.passwordFile(), schema));
      ArchiveWriter writer = archive.open(rejection -> {});
      for (int i = 0; i < 20; i++) {
        writer.append(Archives.at(i), Archives.serials(new Incarnation(3, 4), i + 1, EVENTS));
        if (i == 9) {
          writer.roll();
        }
      }
      server.kill();
      assertThat(catchThrowable(writer::roll)).isInstanceOf(ArchiveUnavailableException.class);
      assertThat(catchThrowable(writer::roll)).as("not even when asked again")
          .isInstanceOf(ArchiveUnavailableException.class);
      writer.abandon();
      assertThat(catchThrowable(() -> archive.open(rejection -> {}))).isInstanceOf(ArchiveUnavailableException.class)
          .hasMessageContaining("cannot connect to the archive in postgresql://127.0.0.1");
      server.start();
      try (ArchiveWriter next = archive.open(rejection -> {})) {
        assertThat(next.nextOffset(0)).isEqualTo(10);
        archive(next);
      }
      assertThat(PostgresDatabases.query(server, schema, SERIALS)).containsExactly(COMPLETE);
    }
  }
}
