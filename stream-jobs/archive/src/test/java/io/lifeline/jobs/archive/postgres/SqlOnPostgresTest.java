package io.lifeline.jobs.archive.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.cli.SqlCommand;
import io.lifeline.servers.PostgresServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
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
    all.add(all.size() - 1, "--"); // a query may begin with a comment
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
        .contains("the archive is only read");
    assertThat(sql("WITH gone AS (DELETE FROM batches RETURNING batch) SELECT * FROM gone").err())
        .contains("in a read-only transaction"); // its name of the statement differs between versions
    assertThat(sql("SELECT count(*) FROM batches").out()).contains("1");
  }

  @Test
  void severalStatementsAreRefusedSinceTheFirstCouldEndTheReadOnlyTransaction() throws Exception {
    archive();
    for (String text : List.of("COMMIT; DELETE FROM batches; COMMIT; SELECT 1", "SELECT 1; SELECT 2",
        "SELECT ';'; COMMIT", "/* ; */ SELECT 1 /* */; COMMIT", "SELECT $$;$$; COMMIT")) {
      assertThat(sql(text).err()).as(text).contains("one query is expected");
    }
    for (String text : List.of("COMMIT", "-- SELECT\nCOMMIT", "/* SELECT /* */ */ (COMMIT", "DO $$ BEGIN END $$",
        "SET TRANSACTION READ WRITE", "")) {
      assertThat(sql(text).err()).as(text).contains("the archive is only read");
    }
    assertThat(sql("SELECT 1\0 WHERE false").err()).contains("the query has a NUL at position 9");
    for (String text : List.of("SELECT ';' ;", "-- a;b\n(SELECT 1)", "/* ; */ VALUES (1)", "SHOW jit")) {
      assertThat(sql(text).exitCode()).as(text).isZero();
    }
    assertThat(sql("SELECT count(*) FROM batches").out()).contains("1");
  }

  @Test
  void queriesOfStrangersNeedARoleThatCanOnlyRead() throws Exception {
    PostgresServer server = PostgresServer.shared();
    archive();
    PostgresOptions own = PostgresDatabases.options(schema, PostgresOptions.DEFAULT_ROLL);
    assertThatThrownBy(() -> PostgresReader.openForStrangers(own, 0)).isInstanceOf(ArchiveException.class)
        .hasMessageContaining("the role lifeline owns the database")
        .hasMessageContaining("GRANT SELECT ON ALL TABLES IN SCHEMA \"" + schema + "\" TO lifeline_reader");
    PostgresOptions reader =
        PostgresDatabases.options(server.readerUrl(), server.readerPasswordFile(), schema);
    try (PostgresReader archive = PostgresReader.openForStrangers(reader, 0)) {
      assertThat(count(archive, 0, Long.MAX_VALUE)).isEqualTo(2);
      for (String text : List.of("SELECT pg_read_file('/etc/passwd')", "SELECT pg_ls_dir('/')",
          "SELECT rolpassword FROM pg_authid", "SELECT nonsense")) {
        assertThatThrownBy(() -> {
          try (PreparedStatement query = archive.prepare(text)) {
            query.executeQuery();
          }
        }).as(text).isInstanceOf(SQLException.class);
        archive.endQuestion();
        assertThat(count(archive, 0, Long.MAX_VALUE)).as("after " + text).isEqualTo(2);
      }
    }
    String batches = schema + ".batches";
    for (String[] change : new String[][] {
        {"ALTER ROLE lifeline_reader SUPERUSER", "ALTER ROLE lifeline_reader NOSUPERUSER", "is a superuser"},
        {"ALTER ROLE lifeline_reader CREATEROLE", "ALTER ROLE lifeline_reader NOCREATEROLE", "has CREATEROLE"},
        {"GRANT pg_execute_server_program TO lifeline_reader", "REVOKE pg_execute_server_program FROM lifeline_reader",
            "is a member of other roles"},
        {"GRANT CREATE ON DATABASE lifeline TO lifeline_reader", "REVOKE CREATE ON DATABASE lifeline FROM lifeline_reader",
            "may create schemas"},
        {"GRANT CREATE ON SCHEMA public TO lifeline_reader", "REVOKE CREATE ON SCHEMA public FROM lifeline_reader",
            "may create tables in the schema public"},
        {"GRANT DELETE ON " + batches + " TO lifeline_reader", "REVOKE DELETE ON " + batches + " FROM lifeline_reader",
            "may write to tables"}}) {
      server.administer(change[0]);
      try {
        assertThatThrownBy(() -> PostgresReader.openForStrangers(reader, 0)).as(change[0])
            .hasMessageContaining("the role lifeline_reader " + change[2]);
      } finally {
        server.administer(change[1]);
      }
    }
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
