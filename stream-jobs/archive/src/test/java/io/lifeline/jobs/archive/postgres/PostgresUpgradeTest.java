package io.lifeline.jobs.archive.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.Appended;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.servers.PostgresServer;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Continues an archive that an earlier release made; see {@code jetstream/src/test/upgrade/README.md}. */
@Tag("system")
class PostgresUpgradeTest {
  private static final Path STORED = Path.of("../jetstream/src/test/upgrade/be341dd.tar.gz").toAbsolutePath();
  private static final String SCHEMA = "upgrade";
  private static final String STEPS =
      "SELECT count(*), count(DISTINCT serial), min(serial), max(serial) FROM \"test.step\"";

  @TempDir Path directory;

  @Test
  void anArchiveOfAnEarlierReleaseIsReadAndContinued() throws Exception {
    PostgresServer server = PostgresServer.shared();
    server.execute("DROP SCHEMA IF EXISTS upgrade CASCADE", "DROP SCHEMA IF EXISTS upgrade_data CASCADE");
    Process restore = new ProcessBuilder("sh", "-c", "tar -xzOf " + STORED + " archive.sql | PGPASSWORD=$(cat "
        + server.passwordFile() + ") psql -X -q -v ON_ERROR_STOP=1 -o /dev/null " + server.url()).inheritIO().start();
    assertThat(restore.waitFor()).isZero();
    assertThat(PostgresDatabases.query(SCHEMA, STEPS)).as("before").containsExactly("300 300 1 300");

    PostgresArchive archive = new PostgresArchive(PostgresDatabases.options(SCHEMA, PostgresOptions.DEFAULT_ROLL));
    Incarnation emitter = new Incarnation(5, 6);
    try (ArchiveWriter writer = archive.open(rejection -> {})) {
      long next = writer.nextOffset(0);
      assertThat(next).isGreaterThan(3);
      assertThat(writer.append(Archives.at(next), Archives.serials(emitter, 1, 10))).isEqualTo(Appended.ACCEPTED);
      assertThat(writer.append(Archives.at(next + 1), Archives.serials(emitter, 1, 10))).isEqualTo(Appended.DUPLICATE);
    }
    assertThat(PostgresDatabases.query(SCHEMA, STEPS)).as("wrong books").containsExactly("300 300 1 300");
    assertThat(PostgresDatabases.query(SCHEMA, "SELECT count(*) FROM \"test.serial\"")).as("wrong books")
        .containsExactly("10");
    assertThat(PostgresDatabases.query(SCHEMA, "SELECT count(*), sum(missing) FROM ledger")).as("wrong books")
        .containsExactly("4 0");
  }
}
