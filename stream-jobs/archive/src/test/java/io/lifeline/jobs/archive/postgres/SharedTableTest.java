package io.lifeline.jobs.archive.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.codec.Level;
import io.lifeline.jobs.archive.Appended;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.SessionScene;
import io.lifeline.jobs.core.Position;
import io.lifeline.servers.PostgresServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Tests the types beyond those that have a table of their own. The tests share an archive with as many tables as there
 * may be, which take long to make, and add types of their own.
 */
@Tag("system")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class SharedTableTest {
  private static String schema;
  private static long next;
  private static List<String> versionWithoutSharing;

  @BeforeAll
  static void makeAsManyTablesAsThereMayBe() throws Exception {
    schema = PostgresDatabases.newSchema();
    archive(everything(everything("own").build()), types(Catalog.MAX_TABLES - 1));
    versionWithoutSharing = query("SELECT version FROM archive");
  }

  private static PostgresOptions options() throws Exception {
    return PostgresDatabases.options(schema, PostgresOptions.DEFAULT_ROLL);
  }

  private static void archive(BatchWriter... batches) throws Exception {
    try (ArchiveWriter writer =
        new PostgresArchive(options()).open(rejection -> {}, step -> {}, () -> PostgresDatabases.NOW_MS)) {
      for (BatchWriter batch : batches) {
        batch.sequence(next + 1);
        assertThat(writer.append(Archives.at(next++), batch.toByteArray())).isEqualTo(Appended.ACCEPTED);
      }
    }
  }

  private static List<String> query(String sql) throws Exception {
    return PostgresDatabases.query(schema, sql);
  }

  private static BatchWriter batch() {
    return Archives.batch(new Incarnation(5, 6), 1);
  }

  /** Returns a batch with an event each of that many types. */
  private static BatchWriter types(int count) {
    BatchWriter batch = batch();
    for (int i = 0; i < count; i++) {
      batch.event(EventType.named("type." + i).field("v", FieldType.I64).build(), i, (long) i);
    }
    return batch;
  }

  private static EventType.Builder everything(String name) {
    return EventType.named(name).level(Level.WARN).field("id", FieldType.F64).field("i", FieldType.I32)
        .field("l", FieldType.I64).field("u", FieldType.U32).field("ul", FieldType.U64).field("f", FieldType.F32)
        .field("b", FieldType.BOOL).field("it's \"", FieldType.STRING).field("raw", FieldType.BYTES)
        .constant("c", FieldType.F32, "", 0.1f).constant("n", FieldType.F64, "", Double.NaN)
        .constant("t", FieldType.STRING, "", "it's \\");
  }

  private static BatchWriter everything(EventType... types) {
    byte[] text = "\"\\ \0 \n é".getBytes(StandardCharsets.UTF_8);
    BatchWriter batch = batch();
    for (EventType type : types) {
      batch.event(type, 1, 1e-7, -1, Long.MIN_VALUE, 4_294_967_295L, -1L, 0.1f, true,
          new String(text, StandardCharsets.UTF_8), new byte[] {0, (byte) 0xff});
      batch.event(type, 2, Double.NaN, 0, 0L, 0L, 0L, Float.NEGATIVE_INFINITY, false, "", new byte[0]);
    }
    return batch;
  }

  @Test
  void eventsLookTheSameWithAndWithoutATableOfTheirOwn() throws Exception {
    archive(everything(everything("shared").build()));
    assertThat(query("SELECT data_table FROM types WHERE name IN ('own', 'shared') ORDER BY name"))
        .containsExactly("own", EventTable.SHARED_IN_CATALOGUE);
    String columns = "ts, ts_ns, level, host, program, pid, thread, incarnation, route, id, i, l, u, ul, f, b, \"it's"
        + " \"\"\", raw, c, n, t";
    assertThat(query("SELECT " + columns + " FROM shared ORDER BY ts_ns"))
        .hasSize(2).isEqualTo(query("SELECT " + columns + " FROM own ORDER BY ts_ns"));
    for (String view : List.of("events", "latest", "lifelines")) {
      String row = "SELECT ts, ts_ns, level, host, program, incarnation, id, fields FROM " + view + " WHERE type = ";
      assertThat(query(row + "'shared' ORDER BY ts_ns")).isNotEmpty().isEqualTo(query(row + "'own' ORDER BY ts_ns"));
    }
  }

  @Test
  void aTypeThatEvolvesGetsColumnsAsInATableOfItsOwn() throws Exception {
    archive(batch().event(EventType.named("evolving").field("n", FieldType.I32).build(), 1, 1));
    PostgresServer.shared().execute("CREATE VIEW " + schema + ".of_mine AS SELECT n FROM " + schema + ".evolving");
    archive(batch()
        .event(EventType.named("evolving").level(Level.ERROR).field("n", FieldType.STRING).build(), 2, "two"));
    assertThat(query("SELECT level, n, \"n:string\" FROM evolving ORDER BY ts_ns"))
        .containsExactly("info 1 null", "error null two");
    assertThat(query("SELECT level, fields FROM events WHERE type = 'evolving' ORDER BY ts_ns"))
        .containsExactly("info {\"n\": 1}", "error {\"n:string\": \"two\"}");
    assertThat(query("SELECT count(n) FROM of_mine")).containsExactly("1");
  }

  /** Leaves no room for types of other tests. */
  @Test
  @Order(Integer.MAX_VALUE)
  void planningAllEventsTakesBoundedMemoryForAsManyTypesAsThereMayBe() throws Exception {
    int former = Catalog.MAX_TABLES - 1;
    int count = Catalog.MAX_TYPES + former - Integer.parseInt(query("SELECT count(*) FROM types").get(0));
    archive(types(count));
    assertThat(query("SELECT count(*) FROM types")).containsExactly(String.valueOf(Catalog.MAX_TYPES));
    try (Connection connection = PostgresServer.shared().connect();
        Statement statement = connection.createStatement()) {
      statement.execute("SET search_path = " + schema);
      for (String view : List.of("events WHERE program = 'x'", "lifelines WHERE program = 'x'",
          "session_events WHERE session = 'x'", "sessions", "session_members")) {
        statement.executeQuery("EXPLAIN SELECT count(*) FROM " + view).close();
      }
      assertThat(peakMegabytes(statement)).as("MB of the server's process").isLessThan(200);
    }
    assertThat(query(
        "SELECT count(*), count(DISTINCT type) FROM events WHERE program = 'program' AND type LIKE 'type.%'"))
        .containsExactly(former + count + " " + count);
    assertThat(query("SELECT v FROM \"type." + (count - 1) + "\"")).containsExactly(String.valueOf(count - 1));
  }

  private static long peakMegabytes(Statement statement) throws Exception {
    try (ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
      row.next();
      String status = Files.readString(Path.of("/proc", row.getString(1), "status"));
      Matcher peak = Pattern.compile("VmHWM:\\s+(\\d+) kB").matcher(status);
      assertThat(peak.find()).isTrue();
      return Long.parseLong(peak.group(1)) / 1024;
    }
  }

  /** Earlier releases do not know the shared table: they may write until it is needed. */
  @Test
  void theArchivesVersionChangesWhenTypesBeginToShareATable() throws Exception {
    assertThat(versionWithoutSharing).containsExactly("1");
    archive(batch().event(EventType.named("first").field("v", FieldType.I64).build(), 1, 7L));
    assertThat(query("SELECT version FROM archive")).containsExactly("3");
    PostgresServer.shared().execute("UPDATE " + schema + ".archive SET version = 4");
    assertThatThrownBy(() -> new PostgresArchive(options()).open(rejection -> {}))
        .isInstanceOf(ArchiveException.class).hasMessageContaining("has version 4, which this program does not know");
    PostgresServer.shared().execute("UPDATE " + schema + ".archive SET version = 3");
  }

  /**
   * It opened the archive before types shared a table, and does with the table of such a type what it does with each
   * other one's. It would show events of all of them as events of one.
   */
  @Test
  void aProgramOfAnEarlierReleaseThatHasTheArchiveOpenCannotHarmTheSharedTable() throws Exception {
    archive(batch().event(EventType.named("late").field("v", FieldType.I64).build(), 1, 7L));
    String table = schema + "_data.\"" + query("SELECT data_table FROM types WHERE name = 'late'").get(0) + "\"";
    for (String sql : List.of("CREATE TABLE " + schema + "_data.\"late:20260921\" (LIKE " + table + ")",
        "ALTER TABLE " + table + " ADD COLUMN more integer", "COPY " + table + " (ts, v) FROM STDIN (FORMAT binary)",
        "CREATE OR REPLACE VIEW " + schema + ".late AS SELECT r.ts, r.v FROM " + table + " r",
        "CREATE OR REPLACE VIEW " + schema + ".events AS SELECT r.ts FROM " + table + " r WHERE true")) {
      assertThatThrownBy(() -> PostgresServer.shared().execute(sql)).as(sql)
          .hasMessageContaining("relation \"" + schema + "_data.:other of version 3\" does not exist");
    }
    assertThat(query("SELECT v FROM late")).containsExactly("7");
  }

  /** That version's catalogue names the shared table itself. */
  @Test
  void anArchiveOfVersionTwoBecomesOneOfVersionThree() throws Exception {
    EventType migrated = EventType.named("migrated").field("v", FieldType.I64).build();
    archive(batch().event(migrated, 1, 1L));
    PostgresServer.shared().execute("UPDATE " + schema + ".archive SET version = 2; UPDATE " + schema
        + ".types SET data_table = '" + EventTable.SHARED + "' WHERE data_table = '" + EventTable.SHARED_IN_CATALOGUE
        + "'");
    archive(batch().event(migrated, 2, 2L));
    assertThat(query("SELECT a.version, data_table FROM archive a, types WHERE name = 'migrated'"))
        .containsExactly("3 " + EventTable.SHARED_IN_CATALOGUE);
    assertThat(query("SELECT v FROM migrated ORDER BY v")).containsExactly("1", "2");
  }

  @Test
  void sessionsAreTheSameWithAndWithoutTablesForTheirTypes() throws Exception {
    List<List<String>> found = new ArrayList<>();
    for (int others : new int[] {1, Catalog.MAX_TABLES}) {
      PostgresOptions options = options().withSchema(schema + "_" + others);
      ArchiveWriter writer =
          new PostgresArchive(options).open(rejection -> {}, step -> {}, () -> PostgresDatabases.NOW_MS);
      writer.append(new Position(1, 0, PostgresDatabases.NOW_MS), types(others).toByteArray());
      writer.roll();
      SessionScene.archive(writer);
      found.add(PostgresDatabases.query(options.schema(), "SELECT * FROM sessions ORDER BY session"));
      found.add(PostgresDatabases.query(options.schema(),
          "SELECT session, via, type, host, fields FROM session_events ORDER BY session, ts, via, type, host"));
    }
    assertThat(found.get(2)).hasSize(3).isEqualTo(found.get(0));
    assertThat(found.get(3)).hasSize(14).isEqualTo(found.get(1));
  }
}
