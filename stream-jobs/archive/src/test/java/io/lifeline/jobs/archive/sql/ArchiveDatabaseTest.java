package io.lifeline.jobs.archive.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.OperatingSystemMXBean;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.EmptyArchiveException;
import io.lifeline.jobs.archive.EventCursor;
import io.lifeline.jobs.archive.EventSelection;
import io.lifeline.jobs.archive.SessionScene;
import io.lifeline.jobs.archive.TimeSpan;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ArchiveDatabaseTest {
  private static final Incarnation EMITTER = new Incarnation(1, 2);

  @TempDir Path directory;

  /** Types with fewer rows than this share a file; both layouts must look the same. */
  private int rareRows;

  @BeforeEach
  void oneFilePerType() {
    rareRows = 0;
  }

  private ArchiveWriter open() throws Exception {
    return new ParquetArchive(ParquetOptions.in(directory).withThreads(1).withRareRows(rareRows)).open(rejection -> {});
  }

  private void archive(BatchWriter... batches) throws Exception {
    try (ArchiveWriter writer = open()) {
      for (BatchWriter batch : batches) {
        writer.append(Archives.at(writer.nextOffset(0)), batch.toByteArray());
        writer.roll();
      }
    }
  }

  private List<String> query(String sql) throws Exception {
    return Archives.query(directory, sql);
  }

  @Test
  void countersThatCannotBeTrueSpoilNobodysLedger() throws Exception {
    archive(
        Archives.batch(EMITTER, 1).counter(Counter.DROPPED_RING_FULL, -1).counter(Counter.DROPPED_SINK, -1),
        Archives.batch(new Incarnation(1, 3), 1).counter(Counter.DROPPED_SINK, 5).counter(Counter.EMITTED, 5));
    assertThat(query("SELECT dropped, missing FROM ledger ORDER BY dropped"))
        .containsExactly("5 0", "36893488147419103230 -36893488147419103230");
  }

  @Test
  @Timeout(300)
  void aQueryIsCancelledWhileTheRoutesAreReadAndTheNextOneIsNot() throws Exception {
    int routes = 3_000;
    try (ArchiveWriter writer = Archives.open(directory)) {
      for (int i = 0; i < routes; i++) {
        writer.append(Archives.at(i), Archives.serials(new Incarnation(1, i), 1, 1));
      }
    }
    String sql = "SELECT count(*), sum(archived) FROM ledger";
    boolean isCancelled = false;
    while (!isCancelled) { // the other thread may be too late
      try (ArchiveDatabase database = ArchiveDatabase.open(directory)) {
        isCancelled = isCancelled(database, sql);
        try (PreparedStatement query = database.prepare(sql); ResultSet row = query.executeQuery()) {
          row.next();
          assertThat(List.of(row.getInt(1), row.getInt(2))).containsExactly(routes, routes);
        }
      }
    }
  }

  /** Prepares a query while another thread cancels that. */
  private static boolean isCancelled(ArchiveDatabase database, String sql) throws Exception {
    AtomicBoolean hasEnded = new AtomicBoolean();
    Thread other = new Thread(() -> {
      while (!hasEnded.get()) {
        database.cancelPreparation();
      }
    });
    other.start();
    try (PreparedStatement query = database.prepare(sql)) {
      return false;
    } catch (SQLException e) {
      assertThat(e.getMessage()).isEqualTo("the query was cancelled while it was prepared");
      return true;
    } finally {
      hasEnded.set(true);
      other.join();
    }
  }

  /** All in one archive: to write and to open one for each name takes most of the time. */
  @Test
  void hostileNamesAreNamesAndNothingElse() throws Exception {
    List<String> names = List.of("a\"; DROP VIEW ledger; --", "'; COPY (SELECT 1) TO 'x'; --", "x'y\"z", "..", "a b", "SELECT",
        "%s%n", "漢字", "ledger", "EVENTS", "batches", "routes", "\\", "{}", "a\nb");
    for (int rare : new int[] {0, 1_000}) {
      rareRows = rare;
      try (ArchiveWriter writer = open()) {
        for (int i = 0; i < names.size(); i++) {
          String name = names.get(i);
          EventType type = EventType.named(name).field(name, FieldType.I32, name)
              .constant(name + "c", FieldType.STRING, "", name).build();
          writer.append(Archives.at(writer.nextOffset(0)), Archives.batch(new Incarnation(1, i), rare == 0 ? 1 : 2)
              .host(name).program(name).context(name, name).event(type, 1, 7).toByteArray());
        }
      }
    }
    List<String> queries = new ArrayList<>();
    try (ArchiveDatabase database = ArchiveDatabase.open(directory)) {
      assertThat(database.eventTypes()).containsExactlyInAnyOrderElementsOf(names);
      for (String name : names) {
        queries.add("SELECT " + quoted(name) + " FROM " + quoted(database.viewOf(name)));
      }
    }
    assertThat(Archives.query(directory, queries)).hasSameSizeAs(names)
        .allSatisfy(rows -> assertThat(rows).containsExactly("7", "7"));
    List<List<String>> others = Archives.query(directory, List.of("SELECT type, host, count(*) FROM events GROUP BY ALL",
        "SELECT host FROM emitters", "SELECT count(*) FROM ledger"));
    assertThat(others.get(0)).containsExactlyInAnyOrderElementsOf(
        names.stream().map(name -> name + " " + name + " 2").toList());
    assertThat(others.get(1)).containsExactlyInAnyOrderElementsOf(names);
    assertThat(others.get(2)).containsExactly(Integer.toString(names.size()));
  }

  private static String quoted(String name) {
    return '"' + name.replace("\"", "\"\"") + '"';
  }

  @Test
  void typesCalledAsTheDatabasesOwnViewsDoNotBreakItsStatements() throws Exception {
    List<String> names = List.of("duckdb_tables", "duckdb_views", "duckdb_columns", "sqlite_master", "pg_class", "tables");
    BatchWriter batch = Archives.batch(EMITTER, 1);
    for (String name : names) {
      batch.event(EventType.named(name).field("id", FieldType.I32).build(), 1, 7);
    }
    archive(batch);
    assertThat(query("SHOW TABLES")).contains("events", "event:duckdb_tables", "event:pg_class", "tables");
    assertThat(query("SELECT count(*) > 5 FROM information_schema.columns")).containsExactly("true");
    assertThat(query("SHOW ALL TABLES")).isNotEmpty();
    assertThat(query("SELECT id FROM \"event:duckdb_tables\"")).containsExactly("7");
    assertThat(query("SELECT id FROM tables")).containsExactly("7");
  }

  @Test
  void namesThatDifferOnlyInCaseKeepTheirEventsApart() throws Exception {
    archive(Archives.batch(EMITTER, 1)
        .event(EventType.named("DISK.READ").field("id", FieldType.I32).build(), 1, 1)
        .event(EventType.named("disk.read").field("id", FieldType.I32).field("ID", FieldType.I32).build(), 1, 2, 3));
    try (ArchiveDatabase database = ArchiveDatabase.open(directory)) {
      assertThat(database.viewOf("disk.read")).isEqualTo("disk.read");
      assertThat(database.viewOf("DISK.READ")).isEqualTo("event:DISK.READ");
    }
    assertThat(query("SELECT id, field_ID FROM \"disk.read\"")).containsExactly("2 3");
    assertThat(query("SELECT id FROM \"event:DISK.READ\"")).containsExactly("1");
  }

  @Test
  void fieldsThatAreCalledLikeTheEventsOwnColumnsGetAnotherName() throws Exception {
    EventType type =
        EventType.named("generator").field("sequence", FieldType.U64).field("host", FieldType.STRING).build();
    archive(Archives.batch(EMITTER, 9).event(type, 1, 5, "h"));
    assertThat(query("SELECT sequence, field_sequence, host, field_host FROM generator"))
        .containsExactly("9 5 host h");
  }

  @ParameterizedTest
  @CsvSource({"0", "1000"})
  void versionsOfATypeShareAView(int rare) throws Exception {
    rareRows = rare;
    EventType first = EventType.named("io").field("id", FieldType.U32).field("n", FieldType.I32).build();
    EventType second = EventType.named("io").field("id", FieldType.U64).field("n", FieldType.STRING)
        .field("extra", FieldType.F64).constant("unit", FieldType.STRING, "", "ms").build();
    archive(
        Archives.batch(EMITTER, 1).event(first, 1, 1, 10),
        Archives.batch(EMITTER, 2).event(first, 2, 2, 20).event(second, 3, -1L, "thirty", 0.5));
    assertThat(query("SELECT id, n, extra, unit FROM io ORDER BY ts"))
        .containsExactly("1 10 null null", "2 20 null null", "18446744073709551615 thirty 0.5 ms");
    assertThat(query("SELECT id, fields FROM events ORDER BY ts")).containsExactly(
        "1 {\"id\":1,\"n\":10}", "2 {\"id\":2,\"n\":20}",
        "18446744073709551615 {\"id\":18446744073709551615,\"n\":\"thirty\",\"extra\":0.5,\"unit\":\"ms\"}");
  }

  /** FLOAT, which the database itself would choose, has 24 bits of precision. */
  @Test
  void integersBesideFloatsAreDoubles() throws Exception {
    EventType integers = EventType.named("mix").field("a", FieldType.U32).field("b", FieldType.I32)
        .field("c", FieldType.I64).field("d", FieldType.U64).field("e", FieldType.I64).build();
    EventType floats = EventType.named("mix").field("a", FieldType.F32).field("b", FieldType.F32)
        .field("c", FieldType.F32).field("d", FieldType.F64).field("e", FieldType.U64).build();
    archive(Archives.batch(EMITTER, 1)
        .event(integers, 1, 16_777_217, -16_777_217, 9_007_199_254_740_991L, 16_777_217L, -1L)
        .event(floats, 2, 0.5f, 0.5f, 0.5f, 0.5, -1L));
    assertThat(query("SELECT a::BIGINT, b::BIGINT, c::BIGINT, d::BIGINT, e FROM mix ORDER BY ts LIMIT 1"))
        .containsExactly("16777217 -16777217 9007199254740991 16777217 -1");
    assertThat(query("SELECT DISTINCT typeof(a), typeof(b), typeof(c), typeof(d), max(e) FROM mix GROUP BY ALL"))
        .containsExactly("DOUBLE DOUBLE DOUBLE DOUBLE 18446744073709551615");
  }

  /** As a DOUBLE, 0.1f would be 0.10000000149011612. */
  @Test
  void floatsInFieldsHaveNoMoreDigitsThanTheyNeed() throws Exception {
    EventType type = EventType.named("float").field("f", FieldType.F32).build();
    for (int rare : new int[] {0, 10}) {
      rareRows = rare;
      archive(Archives.batch(EMITTER, 1 + rare).event(type, 1, 0.1f).event(type, 2, 1e20f)
          .event(type, 3, 1e-7f).event(type, 4, Float.NaN));
    }
    assertThat(query("SELECT DISTINCT TRY_CAST(fields->>'f' AS DOUBLE) FROM events ORDER BY 1"))
        .containsExactly("1.0E-7", "0.1", "1.0E20", "NaN");
  }

  /** Rare types share columns, and the database evaluates conditions in an order of its own. */
  @Test
  void conditionsOnFieldsMeetNoValuesOfOtherTypes() throws Exception {
    EventType narrow = EventType.named("narrow").field("u", FieldType.U32).field("i", FieldType.I32)
        .field("f", FieldType.F32).field("b", FieldType.BYTES).field("k", FieldType.BOOL)
        .field("w", FieldType.U64).build();
    EventType wide = EventType.named("wide").field("a", FieldType.I64).field("b", FieldType.I64)
        .field("c", FieldType.F64).field("d", FieldType.STRING).field("e", FieldType.I64)
        .field("f", FieldType.I64).build();
    rareRows = 10;
    archive(Archives.batch(EMITTER, 1)
        .event(wide, 1, -1L, Long.MIN_VALUE, 1e300, "no bytes", 2L, Long.MIN_VALUE)
        .event(narrow, 2, 5, -5, 0.5f, new byte[] {1}, true, -1L)
        .event(wide, 3, -1L, Long.MIN_VALUE, 1e300, "no bytes", 2L, Long.MIN_VALUE));
    for (String condition : List.of("u = 5", "i = -5", "f = 0.5", "b = '\\x01'::BLOB", "k", "w = 18446744073709551615",
        "u > 4", "f < 1", "octet_length(b) = 1", "u = 5 AND i = -5 AND f = 0.5 AND b <> 'x'::BLOB")) {
      assertThat(query("SELECT count(*) FROM narrow WHERE " + condition)).as(condition).containsExactly("1");
    }
  }

  /** Bytes are BLOBs there, and text in shared files. */
  @Test
  void sessionsAreFoundInFilesWithOneTypeToo() throws Exception {
    SessionScene.archive(new ParquetArchive(ParquetOptions.in(directory).withThreads(1).withRareRows(0))
        .open(rejection -> {}));
    assertThat(query("SELECT name, ok, events FROM sessions ORDER BY session"))
        .containsExactly("outer true 6", "inner null 3", "null null 1");
    assertThat(query("SELECT session[1:4], via, count(*) FROM session_events GROUP BY ALL ORDER BY ALL"))
        .containsExactly("0af7 host 2", "0af7 session 7", "11f7 session 4", "copy session 1");
  }

  @Test
  void aTypeThatIsRareOnceAndFrequentLaterHasOneView() throws Exception {
    rareRows = 3;
    archive(
        Archives.batch(EMITTER, 1).event(Archives.SERIAL, 1, 1, 1),
        Archives.batch(EMITTER, 2).event(Archives.SERIAL, 2, 2, 1).event(Archives.SERIAL, 3, 3, 1)
            .event(Archives.SERIAL, 4, 4, 1));
    assertThat(query("SELECT serial FROM \"test.serial\" ORDER BY ts")).containsExactly("1", "2", "3", "4");
    assertThat(query("SELECT count(*) FROM events")).containsExactly("4");
  }

  @Tag("system") // it measures processor time
  @Test
  void aThousandTypesAreWrittenIntoOneFileAndOpenInSeconds() throws Exception {
    rareRows = 1_000;
    BatchWriter batch = Archives.batch(EMITTER, 1);
    for (int i = 0; i < 1_000; i++) {
      batch.event(EventType.named("type." + i).field("v" + i, FieldType.I64).field("s", FieldType.STRING).build(), i, i,
          "text " + i);
    }
    archive(batch);
    try (var files = Files.list(directory.resolve("data"))) {
      assertThat(files.count()).isEqualTo(2);
    }
    long start = processCpuNs();
    assertThat(query("SELECT v637, s FROM \"type.637\"")).containsExactly("637 text 637");
    assertThat(query("SELECT count(*), count(DISTINCT type) FROM events")).containsExactly("1000 1000");
    assertThat((processCpuNs() - start) / 1e9).as("seconds of a processor").isLessThan(10);
    assertThat(query("SELECT count(*) FROM (SHOW TABLES) WHERE name LIKE 'type.%'")).containsExactly("1000");
  }

  /** Unlike time, this does not depend on the load of the machine. */
  private static long processCpuNs() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "COPY (SELECT 1) TO 'data/x.parquet'                 | the archive is only read: a SELECT",
    "CREATE TABLE x (i INT)                              | the archive is only read: a SELECT",
    "DROP VIEW ledger                                    | the archive is only read: a SELECT",
    "SET memory_limit = '1 GB'                           | the archive is only read: a SELECT",
    "SELECT 1; SELECT 2                                  | one query is expected, not 2",
    "''                                                  | one query is expected, not 0",
    "SELECT 1~ + 2                                       | the query has a NUL at position 9",
    "SELEC 1                                             | syntax error at or near \"SELEC\"",
    "SELECT * FROM read_csv('/etc/passwd')               | file system operations are disabled",
    "SELECT * FROM '/etc/passwd'                         | does not exist",
    "SELECT * FROM read_text('/etc/passwd')              | file system operations are disabled",
    "SELECT * FROM nothing                               | nothing does not exist",
    "SELECT * FROM \"test.seriel\"                      | Did you mean \"test.serial\""
  }, quoteCharacter = '`')
  void whatDoesNotReadTheArchiveIsRefused(String sql, String message) throws Exception {
    archive(Archives.batch(EMITTER, 1).event(Archives.SERIAL, 1, 1, 1));
    assertThatThrownBy(() -> query(sql.equals("''") ? "" : sql.replace('~', '\0'))).isInstanceOf(SQLException.class)
        .hasMessageContaining(message);
  }

  @Test
  void tablesNamedInTextAreThereToo() throws Exception {
    archive(Archives.batch(EMITTER, 1).event(Archives.SERIAL, 1, 1, 1));
    for (String rows : List.of("query_table('ledger')", "query('FROM ledger')", "query_table('events')")) {
      assertThat(query("SELECT count(*) FROM " + rows)).as(rows).containsExactly("1");
    }
  }

  @Test
  void anArchiveThatIsNotThereIsAClearError() {
    assertThatThrownBy(() -> ArchiveDatabase.open(directory.resolve("nowhere"))).isInstanceOf(ArchiveException.class)
        .hasMessage("there is no archive at " + directory.resolve("nowhere")
            + ": give the directory that is archive.dir of the jobs");
    assertThatThrownBy(() -> ArchiveDatabase.open(directory)).isInstanceOf(EmptyArchiveException.class)
        .hasMessageContaining("is empty: nothing has been published into it yet");
  }

  @Test
  void aLostDataFileIsAClearError() throws Exception {
    archive(Archives.batch(EMITTER, 1).event(Archives.SERIAL, 1, 1, 1));
    try (var files = Files.list(directory.resolve("data"))) {
      Files.delete(files.sorted().findFirst().orElseThrow());
    }
    assertThatThrownBy(() -> ArchiveDatabase.open(directory)).isInstanceOf(ArchiveException.class)
        .hasMessageContaining("has lost").hasMessageContaining("restore it from a backup");
  }

  /** Archives a roll of each hour; returns the times. */
  private List<TimeSpan> archiveHours(int hours) throws Exception {
    EventType type = EventType.named("hourly").field("hour", FieldType.I64).build();
    List<TimeSpan> spans = new ArrayList<>();
    for (int hour = 0; hour < hours; hour++) {
      long tick = hour * 3_600_000_000_000L;
      archive(Archives.batch(EMITTER, hour + 1).event(type, tick, (long) hour).event(type, tick + 7, (long) hour));
      spans.add(new TimeSpan(1_790_000_000_000_000_000L + tick, 1_790_000_000_000_000_007L + tick));
    }
    return spans;
  }

  /** Makes all files of events unreadable but those of one roll. */
  private void spoilAllBut(int hour) throws Exception {
    try (Stream<Path> files = Files.list(directory.resolve("data"))) {
      for (Path file : files.filter(file -> file.toString().endsWith("-00000.parquet")).sorted().toList()) {
        if (!file.getFileName().toString().startsWith("0-%020d".formatted(hour))) {
          Files.write(file, new byte[100]);
        }
      }
    }
  }

  private static String rows(ArchiveDatabase database, String sql) throws Exception {
    try (PreparedStatement query = database.prepare(sql); ResultSet row = query.executeQuery()) {
      row.next();
      return row.getString(1);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1_000})
  void aQueryOfAnHourReadsNoFileOfAnother(int rare) throws Exception {
    rareRows = rare;
    TimeSpan hour = archiveHours(4).get(2);
    spoilAllBut(2);
    String count = "SELECT count(*) || ' ' || min(hour) || ' ' || max(hour) FROM ";
    try (ArchiveDatabase database = ArchiveDatabase.open(directory, null, hour)) {
      assertThat(rows(database, count + "hourly")).isEqualTo("2 2 2");
      assertThat(rows(database, "SELECT count(*) FROM events")).isEqualTo("2");
      assertThat(rows(database, "SELECT count(*) FROM batches")).isEqualTo("4");
    }
    try (ArchiveDatabase database = ArchiveDatabase.open(directory)) {
      assertThatThrownBy(() -> rows(database, count + "hourly")).isInstanceOf(SQLException.class);
      assertThat(rows(database, count + database.eventsOf("hourly", hour) + " AS e")).isEqualTo("2 2 2");
      TimeSpan first = new TimeSpan(hour.fromNs(), hour.toNs() - 1);
      assertThat(rows(database, "SELECT count(*) FROM " + database.events(first) + " AS e")).isEqualTo("1");
      TimeSpan between = new TimeSpan(hour.toNs() + 1, hour.toNs() + 10);
      assertThat(rows(database, "SELECT count(*) FROM " + database.events(between) + " AS e")).isEqualTo("0");
      assertThat(rows(database, "SELECT count(*) FROM " + database.eventsOf("hourly", between) + " AS e"))
          .isEqualTo("0");
    }
    EventSelection selection = new EventSelection(List.of(), null, null, hour.fromNs(), hour.toNs(), null);
    Path spill = Files.createDirectories(directory.resolve("spill"));
    try (ParquetEvents events = ParquetEvents.open(directory, spill, 256 << 20);
        EventCursor cursor = events.read(selection)) {
      assertThat(cursor.next().timeNs()).isEqualTo(hour.fromNs());
      assertThat(cursor.next()).isNull();
    }
    assertThat(TypeFiles.of(directory, "hourly", hour)).extracting(files -> files.own().size() + files.shared().size())
        .isEqualTo(1);
  }
}
