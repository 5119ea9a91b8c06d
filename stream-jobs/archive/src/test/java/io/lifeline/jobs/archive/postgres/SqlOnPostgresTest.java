package io.lifeline.jobs.archive.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.cli.SqlCommand;
import io.lifeline.servers.PostgresServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Tests the command {@code sql} on a database. */
@Tag("system")
class SqlOnPostgresTest {
  private final String schema = PostgresDatabases.newSchema();

  private record Result(int exitCode, String out, String err) {}

  private Result sql(String... arguments) throws Exception {
    PostgresServer server = PostgresServer.shared();
    List<String> all = new ArrayList<>(List.of("--archive", server.url(), "--password-file",
        server.passwordFile().toString(), "--schema", schema));
    all.addAll(List.of(arguments));
    return run(all);
  }

  private static Result run(List<String> arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode = new CommandLine(new SqlCommand()).setOut(new PrintWriter(out)).setErr(new PrintWriter(err))
        .execute(arguments.toArray(String[]::new));
    return new Result(exitCode, out.toString(), err.toString());
  }

  private void archive() throws Exception {
    try (ArchiveWriter writer =
        new PostgresArchive(PostgresDatabases.options(schema, PostgresOptions.DEFAULT_ROLL)).open(rejection -> {})) {
      writer.append(Archives.at(0), Archives.serials(new Incarnation(1, 2), 1, 2));
    }
  }

  @Test
  void viewsAreAskedByTheirNames() throws Exception {
    archive();
    assertThat(sql("--json", "SELECT serial, host FROM \"test.serial\" ORDER BY serial").out())
        .isEqualTo("{\"serial\":0,\"host\":\"host\"}\n{\"serial\":1,\"host\":\"host\"}\n");
    assertThat(sql("--json", "SELECT fields FROM latest").out())
        .isEqualTo("{\"fields\":{\"serial\": 1, \"field_thread\": 1}}\n");
    assertThat(sql("SELECT archived FROM ledger").out()).isEqualTo("archived\n--------\n       2\n(1 row)\n");
  }

  @Test
  void spansOfTimeAreExactToTheNanosecond() throws Exception {
    archive(); // the first event is at 1790000000 s, the second a nanosecond later
    long first = 1_790_000_000_000_000_000L;
    try (PostgresReader reader =
        PostgresReader.open(PostgresDatabases.options(schema, PostgresOptions.DEFAULT_ROLL))) {
      assertThat(List.of(count(reader, first - 1_000, first), count(reader, first + 1, first + 1),
          count(reader, first, first + 1), count(reader, first + 2, Long.MAX_VALUE), count(reader, -1, first - 1)))
          .containsExactly(1L, 1L, 2L, 0L, 0L);
    }
  }

  private static long count(PostgresReader reader, long fromNs, long toNs) throws Exception {
    try (PreparedStatement query =
            reader.prepare("SELECT count(*) FROM events WHERE " + reader.within(fromNs, toNs));
        ResultSet row = query.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  @Test
  void nothingCanBeChanged() throws Exception {
    archive();
    assertThat(sql("DELETE FROM batches RETURNING batch").err())
        .contains("cannot execute DELETE in a read-only transaction");
    assertThat(sql("SELECT count(*) FROM batches").out()).contains("1");
  }

  @Test
  void anArchiveThatIsNotThereIsAClearError() throws Exception {
    assertThat(sql("SELECT 1")).satisfies(result -> {
      assertThat(result.exitCode()).isEqualTo(1);
      assertThat(result.err()).contains("there is no archive in the schema " + schema);
    });
  }

  @Test
  void aPasswordInTheUrlIsRefusedAndNotRepeated() {
    assertThat(run(List.of("--archive", "postgresql://me:sesame@host/db", "SELECT 1"))).satisfies(result -> {
      assertThat(result.exitCode()).isEqualTo(2);
      assertThat(result.err()).contains("without a password").doesNotContain("sesame");
    });
  }
}
