package io.lifeline.jobs.archive.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveUnavailableException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.CrashContract;
import io.lifeline.servers.PostgresServer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Also kills the server. */
class PostgresCrashTest extends CrashContract {
  private final String schema = PostgresDatabases.newSchema();

  @TempDir Path directory;

  /** See {@link CrashContract#child}. */
  public static final class Child {
    public static void main(String[] arguments) throws Exception {
      PostgresOptions options = PostgresDatabases.options(arguments[1], Path.of(arguments[2]), arguments[3]);
      archiveUntil(arguments[0], progress ->
          new PostgresArchive(options).open(rejection -> {}, progress::accept, () -> PostgresDatabases.NOW_MS));
    }
  }

  @Override
  protected Class<?> child() {
    return Child.class;
  }

  @Override
  protected List<String> arguments() throws Exception {
    PostgresServer server = PostgresServer.shared();
    return List.of(server.url(), server.passwordFile().toString(), schema);
  }

  @Override
  protected ArchiveWriter open() throws Exception {
    return new PostgresArchive(PostgresDatabases.options(schema, PostgresOptions.DEFAULT_ROLL))
        .open(rejection -> {}, step -> {}, () -> PostgresDatabases.NOW_MS);
  }

  @Override
  protected List<String> query(String sql) throws Exception {
    return PostgresDatabases.query(schema, sql);
  }

  @ParameterizedTest
  @EnumSource(StoreStep.class)
  void aWriterThatIsKilledAtAnyStepLeavesEachEventExactlyOnce(StoreStep step) throws Exception {
    isKilledAt(step, step == StoreStep.COMMITTED);
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
      assertThat(PostgresDatabases.query(server, schema, SERIALS)).as("wrong books: serials").containsExactly(COMPLETE);
    }
  }
}
