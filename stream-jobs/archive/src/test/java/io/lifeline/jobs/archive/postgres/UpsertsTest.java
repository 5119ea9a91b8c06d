package io.lifeline.jobs.archive.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.servers.PostgresServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the latest events and the routes of more emitters than one statement takes. */
@Tag("system")
class UpsertsTest {
  private static final int EMITTERS = Upserts.MANY + 50;
  private static final int ROUNDS = 3;
  private static final EventType VALUE = EventType.named("value").field("id", FieldType.U64).field("f", FieldType.F64)
      .field("text", FieldType.STRING).field("raw", FieldType.BYTES).build();
  private static final EventType PLAIN = EventType.named("plain").field("n", FieldType.I32).build();

  @TempDir Path directory;

  /** Appends batches of all emitters in rounds, of which the last one is older; the new ones of each round are more. */
  private static void archive(PostgresOptions options, int batchesPerRoll) throws Exception {
    long[] ticks = {1_000, 2_000, 500};
    long offset = 0;
    try (ArchiveWriter writer = new PostgresArchive(options)
        .open(rejection -> {}, step -> {}, () -> PostgresDatabases.NOW_MS)) {
      for (int round = 0; round < ROUNDS; round++) {
        for (int emitter = EMITTERS; emitter > (ROUNDS - 1 - round) * 20; emitter--) {
          BatchWriter batch = Archives.batch(new Incarnation(emitter % 7, emitter), round + 1)
              .route(emitter % 3, "r" + emitter % 3).counter(Counter.EMITTED, -1L - round)
              .event(VALUE, ticks[round], (long) -emitter, 0.1 * round, "it's \0 \"" + round, new byte[] {-1, 0});
          if (emitter % 2 == 0) {
            batch.event(PLAIN, ticks[round], round);
          }
          writer.append(Archives.at(offset++), batch.toByteArray());
          if (offset % batchesPerRoll == 0) {
            writer.roll();
          }
        }
        writer.roll();
      }
    }
  }

  private static List<String> query(PostgresServer server, String schema) throws Exception {
    List<String> rows = PostgresDatabases.query(server, schema, "SELECT * FROM latest ORDER BY type, incarnation");
    rows.addAll(PostgresDatabases.query(server, schema,
        "SELECT * FROM routes_by_partition ORDER BY incarnation, route"));
    return rows;
  }

  @Test
  void manyRowsAreStoredAsFewAre() throws Exception {
    PostgresServer server = PostgresServer.shared();
    String many = PostgresDatabases.newSchema();
    String few = PostgresDatabases.newSchema();
    archive(PostgresDatabases.options(many, PostgresOptions.DEFAULT_ROLL), Integer.MAX_VALUE);
    archive(PostgresDatabases.options(few, PostgresOptions.DEFAULT_ROLL), 50);
    assertThat(query(server, many)).hasSize(EMITTERS + EMITTERS / 2 + EMITTERS).isEqualTo(query(server, few));
    assertThat(PostgresDatabases.query(many, "SELECT min(l.fields->>'text'), count(*) FROM latest l JOIN events e USING"
        + " (type, incarnation, sequence) WHERE type = 'value' AND l.ts_ns = e.ts_ns AND l.fields = e.fields"))
        .as("newest ones").containsExactly("it's \uFFFD \"1 " + EMITTERS);
    assertThat(PostgresDatabases.query(many, "SELECT sum(batches), sum(missing_batches), sum(archived) FROM ledger"))
        .containsExactly(210 + 230 + 250 + " 60 " + (210 + 230 + 250 + 105 + 115 + 125));
  }

  @Test
  void aUserWhoMayNotMakeTemporaryTablesStoresThemToo() throws Exception {
    try (PostgresServer server = PostgresServer.start(directory.resolve("server"), "--fast")) {
      String password = Files.readString(server.passwordFile()).strip();
      server.administer("REVOKE TEMPORARY ON DATABASE lifeline FROM PUBLIC", "CREATE ROLE plain LOGIN PASSWORD '"
          + password + "'", "GRANT CREATE ON DATABASE lifeline TO plain",
          "GRANT plain TO lifeline"); // who reads both archives below
      String url = server.url().replace("lifeline@", "plain@");
      archive(PostgresDatabases.options(url, server.passwordFile(), "plain"), Integer.MAX_VALUE);
      archive(PostgresDatabases.options(server.url(), server.passwordFile(), "owner"), Integer.MAX_VALUE);
      assertThat(query(server, "plain")).hasSize(EMITTERS + EMITTERS / 2 + EMITTERS)
          .isEqualTo(query(server, "owner"));
    }
  }
}
