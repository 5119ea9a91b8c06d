package io.lifeline.jobs.archive.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.core.Position;
import io.lifeline.servers.PostgresServer;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that retention deletes any amount of data in small steps. */
@Tag("system")
class ExpiryTest {
  private static final EventType VALUE = EventType.named("value").field("n", FieldType.I32).build();
  private static final Duration RETENTION = Duration.ofDays(7);

  private final String schema = PostgresDatabases.newSchema();
  private long next;

  private PostgresOptions options() throws Exception {
    return PostgresDatabases.options(schema, PostgresOptions.DEFAULT_ROLL);
  }

  private static long ms(String time) {
    return Instant.parse(time).toEpochMilli();
  }

  /** Archives an event each of these times, received at {@code received}. */
  private void archive(String received, String... times) throws Exception {
    try (ArchiveWriter writer =
        new PostgresArchive(options()).open(rejection -> {}, step -> {}, () -> ms(received))) {
      for (String time : times) {
        BatchWriter batch = new BatchWriter().incarnation(new Incarnation(7, next)).sequence(1).host("host")
            .program("program").pid(42).calibration(0, 0, 1_000_000 * ms(time), 0, false);
        writer.append(new Position(0, next, ms(received)), batch.event(VALUE, 0, (int) next).toByteArray());
        next++;
      }
    }
  }

  private List<String> query(String sql) throws Exception {
    return PostgresDatabases.query(schema, sql);
  }

  private Expiry expiry(Connection connection, int maxSteps) throws Exception {
    Schema tables = new Schema(options());
    return new Expiry(connection, tables,
        new TimePartitions(connection, tables, PostgresOptions.DEFAULT_PARTITION), maxSteps);
  }

  /** Returns the number of calls until nothing is left to do. */
  private int expire(String now, int maxSteps) throws Exception {
    try (Connection connection = Database.connect(options())) {
      Expiry expiry = expiry(connection, maxSteps);
      for (int calls = 1; ; calls++) {
        if (expiry.run(RETENTION, ms(now))) {
          return calls;
        }
        assertThat(calls).as("calls without an end").isLessThan(1_000);
      }
    }
  }

  @Test
  void anyAmountOfOldDataIsDeletedStepByStep() throws Exception {
    archive("2026-09-21T12:00:00Z", "2026-09-19T12:00:00Z", "2026-09-20T12:00:00Z", "2026-09-21T12:00:00Z",
        "1999-01-01T00:00:00Z");
    PostgresServer.shared().execute("INSERT INTO " + schema + ".batches SELECT (b).* FROM (SELECT"
        + " jsonb_populate_record(x, jsonb_build_object('batch', n, 'broker_time',"
        + " x.broker_time + n * interval '1 ms'))"
        + " AS b FROM " + schema + ".batches x, generate_series(1000, 21000) n WHERE x.batch = 0) r; INSERT INTO "
        + schema + "_data.\"value:other\" SELECT r.* FROM " + schema + "_data.\"value:other\" r,"
        + " generate_series(1, 200000)");
    archive("2026-10-01T12:00:00Z", "2026-10-01T12:00:00Z", "1999-01-01T00:00:00Z");
    assertThat(expire("2026-10-01T12:00:00Z", 1)).as("calls of a step of each kind").isGreaterThan(5);
    assertThat(query("SELECT n FROM value ORDER BY n")).containsExactly("4", "5");
    assertThat(query("SELECT partition FROM time_partitions ORDER BY 1"))
        .containsExactly("value:20261001", "value:other");
    assertThat(query("SELECT batch FROM batches ORDER BY 1")).containsExactly("4", "5");
    assertThat(query("SELECT fields->>'n' FROM latest ORDER BY 1")).as("events of a wrong time are not the latest")
        .containsExactly("4");
    assertThat(expire("2026-10-01T12:00:00Z", 50)).isEqualTo(1);
  }

  @Test
  void partitionsThatSomebodyElseDroppedAreMadeAnewAndStopNoExpiry() throws Exception {
    String day = "2026-09-21T12:00:00Z";
    archive(day, day, "1999-01-01T00:00:00Z");
    String drop = "DROP TABLE " + schema + "_data.\"value:20260921\"";
    PostgresServer.shared().execute(drop + "; DROP TABLE " + schema + "_data.\"value:other\"");
    archive(day, day, "1999-01-01T00:00:00Z");
    assertThat(query("SELECT n FROM value ORDER BY n")).containsExactly("2", "3");
    PostgresServer.shared().execute(drop);
    expire("2026-10-01T12:00:00Z", 50);
    assertThat(query("SELECT partition FROM time_partitions")).containsExactly("value:other");
  }

  @Test
  void eventsAheadOfTheirBatchesAreDeletedBeforeThem() throws Exception {
    archive("2026-09-21T12:00:00Z", "2026-09-21T12:00:00Z", "1999-01-01T00:00:00Z");
    expire("2026-09-29T12:00:00Z", 50);
    assertThat(query("SELECT count(*) FROM value")).containsExactly("0");
    assertThat(query("SELECT count(*) FROM batches")).as("a partition later").containsExactly("2");
    expire("2026-10-01T12:00:00Z", 50);
    assertThat(query("SELECT count(*) FROM batches")).containsExactly("0");
  }

  /** Without the index each step would read all batches. */
  @Test
  void batchesOfAnOlderArchiveAreKeptUntilTheyHaveTheirIndex() throws Exception {
    archive("2026-09-21T12:00:00Z", "2026-09-21T12:00:00Z");
    PostgresServer.shared().execute("DROP INDEX " + schema + ".batches_broker_time");
    expire("2026-10-01T12:00:00Z", 50);
    assertThat(query("SELECT (SELECT count(*) FROM value), (SELECT count(*) FROM batches)")).containsExactly("0 1");
    PostgresServer.shared().execute("CREATE INDEX batches_broker_time ON " + schema + ".batches (broker_time)");
    expire("2026-10-01T12:00:00Z", 50);
    assertThat(query("SELECT count(*) FROM batches")).containsExactly("0");
  }

  /** As another writer does that is storing events or deletes the same ones: a wait for it could be a deadlock. */
  @Test
  @Timeout(120)
  void whatAnotherTransactionLocksIsSkippedAndDeletedLater() throws Exception {
    archive("2026-09-21T12:00:00Z", "2026-09-20T12:00:00Z", "2026-09-21T12:00:00Z", "1999-01-01T00:00:00Z");
    try (Connection other = PostgresServer.shared().connect(); Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      statement.execute("SET search_path = " + schema);
      statement.execute("SELECT FROM batches WHERE batch = 0 FOR UPDATE");
      statement.execute("SELECT FROM latest WHERE ts < '2026-09-21' AND ts > '2000-01-01' FOR UPDATE");
      expire("2026-10-01T12:00:00Z", 50);
      assertThat(query("SELECT batch FROM batches")).containsExactly("0");
      assertThat(query("SELECT fields->>'n' FROM latest")).containsExactly("0");
      other.rollback();
    }
    expire("2026-10-01T12:00:00Z", 50);
    assertThat(query("SELECT (SELECT count(*) FROM batches), (SELECT count(*) FROM latest),"
        + " (SELECT count(*) FROM value)")).containsExactly("0 0 0");
  }

  @Test
  @Timeout(120)
  void aWriterThatCreatesTablesIsNotWaitedFor() throws Exception {
    archive("2026-09-21T12:00:00Z", "2026-09-21T12:00:00Z");
    try (Connection other = Database.connect(options()); Connection own = Database.connect(options())) {
      new Schema(options()).lockDefinitions(other);
      Expiry expiry = expiry(own, 50);
      assertThat(expiry.run(RETENTION, ms("2026-10-01T12:00:00Z"))).as("nothing left to do").isFalse();
      assertThat(query("SELECT (SELECT count(*) FROM value), (SELECT count(*) FROM batches)")).containsExactly("1 0");
      new Schema(options()).unlockDefinitions(other);
      assertThat(expiry.run(RETENTION, ms("2026-10-01T12:00:00Z"))).isTrue();
      assertThat(query("SELECT count(*) FROM value")).containsExactly("0");
    }
  }

  @Test
  @Timeout(300)
  void writersThatDeleteAtTheSameTimeShareTheWork() throws Exception {
    archive("2026-09-21T12:00:00Z", "2026-09-21T12:00:00Z");
    PostgresServer.shared().execute("INSERT INTO " + schema + ".batches SELECT (b).* FROM (SELECT"
        + " jsonb_populate_record(x, jsonb_build_object('batch', n, 'broker_time',"
        + " x.broker_time + n % 997 * interval '1 ms')) AS b FROM " + schema
        + ".batches x, generate_series(1, 30000) n) r");
    List<CompletableFuture<Void>> writers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      writers.add(CompletableFuture.runAsync(() -> {
        try (Connection connection = Database.connect(options())) {
          Expiry expiry = expiry(connection, 1);
          while (!expiry.run(RETENTION, ms("2026-10-01T12:00:00Z"))) {
            Thread.onSpinWait();
          }
        } catch (Exception e) {
          throw new CompletionException(e);
        }
      }, task -> new Thread(task).start()));
    }
    for (CompletableFuture<Void> writer : writers) {
      writer.get();
    }
    expire("2026-10-01T12:00:00Z", 50);
    assertThat(query("SELECT (SELECT count(*) FROM value), (SELECT count(*) FROM batches)")).containsExactly("0 0");
  }
}
