package io.lifeline.jobs.archive.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.Appended;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveReader;
import io.lifeline.jobs.archive.ArchiveUnavailableException;
import io.lifeline.jobs.archive.ArchiveWriteException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.SessionScene;
import io.lifeline.jobs.archive.SessionViews;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.servers.PostgresServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TimeZone;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what is specific to PostgreSQL: names, columns, partitions by time, the newest values, access rights. */
@Tag("system")
class PostgresTablesTest {
  private static final Incarnation EMITTER = new Incarnation(5, 6);
  private static final EventType VALUE = EventType.named("value").field("n", FieldType.I32).build();

  private final String schema = PostgresDatabases.newSchema();
  private final List<Rejection> rejections = new ArrayList<>();
  private long nowMs = PostgresDatabases.NOW_MS;
  private long next;

  @TempDir Path directory;

  private PostgresOptions options() throws Exception {
    return PostgresDatabases.options(schema, PostgresOptions.DEFAULT_ROLL);
  }

  private ArchiveWriter open(PostgresOptions options) throws Exception {
    return new PostgresArchive(options).open(rejections::add, step -> {}, () -> nowMs);
  }

  private void archive(PostgresOptions options, BatchWriter... batches) throws Exception {
    try (ArchiveWriter writer = open(options)) {
      for (BatchWriter batch : batches) {
        assertThat(writer.append(new Position(0, next++, nowMs), batch.toByteArray())).isEqualTo(Appended.ACCEPTED);
      }
    }
  }

  private List<String> query(String sql) throws Exception {
    return PostgresDatabases.query(schema, sql);
  }

  /** Returns a batch whose ticks are nanoseconds since that time. */
  private static BatchWriter at(String moment, long sequence) {
    long ns = Instant.parse(moment).getEpochSecond() * 1_000_000_000;
    return new BatchWriter().incarnation(EMITTER).sequence(sequence).host("host").program("program").pid(42)
        .calibration(0, 0, ns, 0, false);
  }

  private List<String> partitions() throws Exception {
    return query("SELECT partition FROM time_partitions ORDER BY partition");
  }

  @Test
  void timesKeepTheirNanoseconds() throws Exception {
    archive(options(), at("2026-09-21T12:00:00Z", 1).event(VALUE, 1, 1).event(VALUE, 1_001, 2));
    assertThat(query("SELECT ts, ts_ns FROM value ORDER BY ts_ns")).containsExactly(
        "2026-09-21 12:00:00+00 1789992000000000001",
        "2026-09-21 12:00:00.000001+00 1789992000000001001");
  }

  @Test
  void aFieldWhoseTypeChangedGetsAColumnOfItsOwn() throws Exception {
    EventType text = EventType.named("value").field("n", FieldType.STRING).build();
    EventType large = EventType.named("value").field("n", FieldType.U64).build();
    archive(options(), at("2026-09-21T12:00:00Z", 1).event(VALUE, 1, 1));
    PostgresServer.shared().execute("CREATE VIEW " + schema + ".of_mine AS SELECT n FROM " + schema + ".value");
    archive(options(), at("2026-09-21T12:00:00Z", 2).event(text, 2, "two").event(large, 3, -1L));
    assertThat(query("SELECT n, \"n:string\", \"n:u64\" FROM value ORDER BY ts_ns"))
        .containsExactly("1 null null", "null two null", "null null 18446744073709551615");
    assertThat(query("SELECT count(n) FROM of_mine")).as("a view that somebody built on it").containsExactly("1");
  }

  @Test
  void eachDayHasAPartitionAndAskingForOneDayReadsOnlyThat() throws Exception {
    archive(options(), at("2026-09-20T23:59:59Z", 1).event(VALUE, 0, 1).event(VALUE, 1_000_000_000, 2));
    assertThat(partitions()).containsExactly("value:20260920", "value:20260921");
    assertThat(String.join("\n",
            query("EXPLAIN SELECT n FROM value WHERE ts >= '2026-09-21' AND ts < '2026-09-22'")))
        .contains("value:20260921").doesNotContain("value:20260920");
  }

  @Test
  void aBrokenClockMakesNoPartitionsWithoutEnd() throws Exception {
    BatchWriter[] batches = new BatchWriter[100];
    for (int year = 0; year < 100; year++) {
      batches[year] = at(1999 + 2 * year + "-01-01T00:00:00Z", year + 1).event(VALUE, 0, year);
    }
    archive(options(), batches);
    assertThat(partitions()).containsExactly("value:other");
    assertThat(query("SELECT count(*), min(ts), max(ts) FROM value"))
        .containsExactly("100 1999-01-01 00:00:00+00 2197-01-01 00:00:00+00");
  }

  @Test
  void whatWasAheadOfItsTimeMovesIntoThePartitionThatThisTimeGets() throws Exception {
    archive(options(), at("2026-09-25T12:00:00Z", 1).event(VALUE, 0, 1), at("2026-12-01T00:00:00Z", 2)
        .event(VALUE, 0, 2));
    assertThat(partitions()).containsExactly("value:other");
    nowMs = Instant.parse("2026-09-25T12:30:00Z").toEpochMilli();
    archive(options(), at("2026-09-25T12:30:00Z", 3).event(VALUE, 0, 3));
    assertThat(partitions()).containsExactly("value:20260925", "value:other");
    assertThat(query("SELECT n FROM value WHERE ts < '2026-09-26' ORDER BY ts")).containsExactly("1", "3");
    assertThat(query("SELECT n FROM " + schema + "_data.\"value:other\"")).containsExactly("2");
  }

  @Test
  void rowsThatComeLongAfterTheirTimeGoToThePartitionThatThisTimeHas() throws Exception {
    archive(options(), at("2026-09-21T12:00:00Z", 1).event(VALUE, 0, 1));
    nowMs = Instant.parse("2026-12-01T12:00:00Z").toEpochMilli();
    archive(options(), at("2026-09-21T13:00:00Z", 2).event(VALUE, 0, 2),
        at("2026-09-01T00:00:00Z", 3).event(VALUE, 0, 3));
    assertThat(query("SELECT n FROM " + schema + "_data.\"value:20260921\" ORDER BY n")).containsExactly("1", "2");
    assertThat(query("SELECT n FROM " + schema + "_data.\"value:other\"")).containsExactly("3");
  }

  @Test
  void partitionsThatAreTooOldAreDroppedWithTheirBatchesAndTheLedgerStillKnows() throws Exception {
    PostgresOptions kept = options().withRetention(Duration.ofDays(7));
    archive(kept, at("2026-09-21T12:00:00Z", 1).event(VALUE, 0, 1), at("1999-01-01T00:00:00Z", 2).event(VALUE, 0, 2));
    nowMs = Instant.parse("2026-09-28T12:00:00Z").toEpochMilli();
    archive(kept, at("2026-09-28T12:00:00Z", 3).event(VALUE, 0, 3));
    assertThat(query("SELECT n FROM value ORDER BY n")).as("seven days are not over for all of that day")
        .containsExactly("1", "2", "3");
    nowMs = Instant.parse("2026-10-01T12:00:00Z").toEpochMilli();
    archive(kept, at("2026-10-01T12:00:00Z", 4).event(VALUE, 0, 4));
    assertThat(query("SELECT n FROM value ORDER BY n")).containsExactly("3", "4");
    assertThat(partitions()).containsExactly("value:20260928", "value:20261001", "value:other");
    assertThat(query("SELECT sequence FROM batches ORDER BY sequence")).containsExactly("3", "4");
    assertThat(query("SELECT archived, missing_batches FROM ledger")).containsExactly("4 0");
  }

  /** Neither this machine's clock alone nor the broker's alone causes deletions. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aClockThatIsWrongDropsNothing(boolean brokers) throws Exception {
    PostgresOptions kept = options().withRetention(Duration.ofDays(7));
    archive(kept, at("2026-09-21T12:00:00Z", 1).event(VALUE, 0, 1), at("1999-01-01T00:00:00Z", 2).event(VALUE, 0, 2));
    long brokerMs = nowMs + Duration.ofDays(brokers ? 40 : 0).toMillis();
    nowMs += Duration.ofDays(brokers ? 0 : 40).toMillis();
    for (int i = 0; i < 2; i++) {
      try (ArchiveWriter writer = open(kept)) {
        writer.append(new Position(0, next++, brokerMs),
            at("2026-09-21T12:00:00Z", 3 + i).event(VALUE, 0, 3).toByteArray());
      }
    }
    assertThat(query("SELECT n FROM value ORDER BY n")).containsExactly("1", "2", "3", "3");
    assertThat(query("SELECT count(*) FROM batches")).containsExactly("4");
    assertThat(partitions()).containsExactly("value:20260921", "value:other");
    try (ArchiveWriter writer = open(kept)) {
      assertThat(writer.append(new Position(0, next, brokerMs), at("2026-09-21T12:00:00Z", 1).event(VALUE, 0, 1)
          .toByteArray())).as("a repeat is known though the clock has jumped").isEqualTo(Appended.DUPLICATE);
    }
  }

  /** The broker's clock is right all the time; the other one must not affect what is stored or deleted. */
  @ParameterizedTest
  @ValueSource(longs = {-40, 40})
  void aMachinesClockThatWasWrongAndIsRightAgainDropsNothing(long days) throws Exception {
    PostgresOptions kept = options().withRetention(Duration.ofDays(7));
    long brokerMs = nowMs;
    for (long wrong : new long[] {days, 0}) {
      nowMs = brokerMs + Duration.ofDays(wrong).toMillis();
      for (int i = 0; i < 2; i++) {
        try (ArchiveWriter writer = open(kept)) {
          writer.append(new Position(0, next++, brokerMs),
              at("2026-09-21T12:00:00Z", next).event(VALUE, 0, 1).toByteArray());
        }
      }
    }
    assertThat(partitions()).containsExactly("value:20260921");
    assertThat(query("SELECT count(*) FROM value")).containsExactly("4");
    assertThat(query("SELECT count(*) FROM batches WHERE broker_time = to_timestamp(" + brokerMs + " / 1000.0)"))
        .containsExactly("4");
  }

  /** Such a batch cannot be compared, so it is reported: neither archived nor silently counted as a duplicate. */
  @Test
  void aBatchWhoseSequenceWasArchivedAndDeletedIsReported() throws Exception {
    PostgresOptions kept = options().withRetention(Duration.ofDays(7));
    archive(kept, at("2026-09-21T12:00:00Z", 1).event(VALUE, 0, 1));
    nowMs = Instant.parse("2026-10-01T12:00:00Z").toEpochMilli();
    archive(kept, at("2026-10-01T12:00:00Z", 2).event(VALUE, 0, 2));
    try (ArchiveWriter writer = open(kept)) {
      writer.append(new Position(0, next, nowMs), at("2026-09-21T12:00:00Z", 1).event(VALUE, 0, 1).toByteArray());
    }
    assertThat(rejections).extracting(Rejection::code).containsExactly("unverifiable");
    assertThat(query("SELECT duplicates, rejected FROM positions")).containsExactly("0 1");
  }

  @Test
  void manyOldBatchesAreDeletedInPieces() throws Exception {
    PostgresOptions kept = options().withRetention(Duration.ofDays(7));
    archive(kept, at("2026-09-21T12:00:00Z", 1).event(VALUE, 0, 1));
    PostgresServer.shared().execute("INSERT INTO " + schema + ".batches SELECT (b).* FROM (SELECT"
        + " jsonb_populate_record(x,"
        + " jsonb_build_object('batch', n)) b FROM " + schema + ".batches x, generate_series(1000, 8000) n) r");
    nowMs = Instant.parse("2026-10-01T12:00:00Z").toEpochMilli();
    archive(kept, at("2026-10-01T12:00:00Z", 2).event(VALUE, 0, 2));
    assertThat(query("SELECT count(*) FROM batches")).containsExactly("1");
    assertThat(query("EXPLAIN SELECT batch FROM batches ORDER BY broker_time LIMIT 1").toString())
        .contains("batches_broker_time");
  }

  /** The archive is as an earlier release created it. */
  @Test
  void anOlderArchiveGetsWhatItLacksAndItsRepeatsAreKnown() throws Exception {
    archive(options(), at("2026-09-21T12:00:00Z", 1).event(VALUE, 0, 1));
    PostgresServer.shared().execute("ALTER TABLE " + schema + ".latest RESET (fillfactor); ALTER TABLE " + schema
        + ".batches DROP COLUMN crc; DROP INDEX " + schema + ".batches_broker_time; DROP INDEX " + schema
        + ".batches_identity; ALTER TABLE " + schema + ".positions DROP COLUMN source, DROP COLUMN last_message,"
        + " DROP COLUMN last_message_next; DROP VIEW " + schema + ".session_events, " + schema
        + ".sessions, " + schema + ".session_members");
    try (ArchiveWriter writer = open(options())) {
      for (int n = 1; n < 3; n++) {
        assertThat(writer.append(new Position(0, next++, nowMs), at("2026-09-21T12:00:00Z", 1).event(VALUE, 0, n)
            .toByteArray())).isEqualTo(Appended.DUPLICATE);
      }
    }
    assertThat(rejections).as("of that one nobody knows the bytes").isEmpty();
    archive(options(), at("2026-09-21T12:00:00Z", 2).event(VALUE, 0, 2));
    assertThat(query("SELECT crc IS NULL FROM batches ORDER BY sequence")).containsExactly("t", "f");
    assertThat(query("SELECT count(*) FROM session_events")).containsExactly("0");
    assertThat(query("SELECT reloptions FROM pg_class WHERE oid = '" + schema + ".latest'::regclass"))
        .containsExactly("{fillfactor=50}");
  }

  /** Their sources were all events, which each query of sessions planned many times. */
  @Test
  void theViewsOverSessionsOfAnOlderArchiveAreReplaced() throws Exception {
    SessionScene.archive(open(options()));
    String sessions = "SELECT * FROM sessions ORDER BY session";
    List<String> before = query(sessions);
    String events = "SELECT * FROM " + schema + ".events";
    SessionViews old = new SessionViews(events, events + " WHERE type IN ('session.start', 'session.end')",
        events + " WHERE type LIKE 'host.%'", schema + ".batches",
        "(SELECT name FROM " + schema + ".types WHERE 'session' = ANY (columns))", "ts_ns", "broker_time",
        "(extract(epoch FROM broker_time) * 1000000000)::bigint");
    old.sql(schema + ".session_members", schema + ".sessions").forEach((view, sql) -> {
      try {
        PostgresServer.shared().execute("CREATE OR REPLACE VIEW " + schema + "." + view + " AS " + sql);
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    });
    PostgresServer.shared().execute("DROP VIEW " + schema + "_data.\"" + Views.MARKS + "\", " + schema
        + "_data.\":00000002\"; CREATE VIEW " + schema + ".of_mine AS SELECT session FROM " + schema + ".sessions");
    open(options()).close();
    assertThat(query("SELECT pg_get_viewdef('session_members'::regclass)").get(0)).contains(Views.MARKS);
    assertThat(query(sessions)).hasSize(3).isEqualTo(before);
    next = 100;
    archive(options(), at("2026-09-21T12:00:00Z", 1).event(VALUE, 1, 1));
    assertThat(query(sessions)).isEqualTo(before);
    assertThat(query("SELECT count(*) FROM of_mine")).containsExactly("3");
  }

  /** The earlier release does not update the column last_message, which then belongs to an earlier position. */
  @Test
  void anEarlierProgramThatWroteMeanwhileMakesTheTopicNoOtherOne() throws Exception {
    archive(options(), at("2026-09-21T12:00:00Z", 1).event(VALUE, 0, 1));
    PostgresServer.shared().execute("UPDATE " + schema + ".positions SET next = 2, written = now()");
    try (ArchiveWriter writer = open(options())) {
      assertThat(writer.comparableOffset(0)).isEqualTo(2);
      assertThat(writer.append(new Position(0, 1, nowMs), at("2026-09-21T12:00:00Z", 2).toByteArray()))
          .isEqualTo(Appended.ALREADY_ARCHIVED);
    }
  }

  /** As after an upgrade while others write to the archive, and a server crash during it. */
  @Test
  void indexesThatAnOlderArchiveLacksAreMadeWhileOthersWrite() throws Exception {
    archive(options(), at("2026-09-21T12:00:00Z", 1).event(VALUE, 0, 1));
    PostgresServer.shared().administer("DROP INDEX " + schema + ".batches_broker_time; UPDATE pg_index SET indisvalid ="
        + " false WHERE indexrelid = '" + schema + ".batches_identity'::regclass");
    try (Connection other = PostgresServer.shared().connect(); Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      statement.execute("LOCK TABLE " + schema + ".batches IN ROW EXCLUSIVE MODE");
      archive(options(), at("2026-09-21T12:00:00Z", 2).event(VALUE, 0, 2));
      other.commit();
    }
    awaitRows("SELECT relname FROM pg_class c JOIN pg_index i ON c.oid = i.indexrelid WHERE indisvalid AND indrelid = '"
        + schema + ".batches'::regclass ORDER BY 1", "batches_broker_time", "batches_identity", "batches_pkey");
  }

  @Test
  @Timeout(120)
  void whoReadsATableThatGetsANewColumnDoesNotStopTheOtherReaders() throws Exception {
    archive(options(), at("2026-09-21T12:00:00Z", 1).event(VALUE, 0, 1));
    PostgresServer.shared().execute("ALTER TABLE " + schema + ".batches DROP COLUMN crc");
    CompletableFuture<Void> opening;
    try (Connection reader = PostgresServer.shared().connect(); Statement statement = reader.createStatement()) {
      reader.setAutoCommit(false);
      statement.execute("LOCK TABLE " + schema + ".batches IN ACCESS SHARE MODE");
      opening = CompletableFuture.runAsync(() -> {
        try {
          archive(options(), at("2026-09-21T12:00:00Z", 2).event(VALUE, 0, 2));
        } catch (Exception e) {
          throw new CompletionException(e);
        }
      });
      awaitRows("SELECT DISTINCT relation::regclass FROM pg_locks WHERE NOT granted AND relation = '" + schema
          + ".batches'::regclass", "batches");
      assertThat(query("SELECT count(*) FROM batches")).containsExactly("1");
      reader.commit();
    }
    opening.get();
    assertThat(query("SELECT crc IS NULL FROM batches ORDER BY sequence")).containsExactly("t", "f");
  }

  private void awaitRows(String sql, String... rows) throws Exception {
    long startNs = System.nanoTime();
    List<String> found = query(sql);
    while (!found.equals(List.of(rows)) && System.nanoTime() - startNs < Duration.ofSeconds(60).toNanos()) {
      Thread.sleep(20);
      found = query(sql);
    }
    assertThat(found).containsExactly(rows);
  }

  @Test
  void theNewestEventOfEachTypeAndEmitterIsAtHand() throws Exception {
    EventType text = EventType.named("text").field("id", FieldType.STRING).field("blob", FieldType.BYTES)
        .constant("unit", FieldType.STRING, "", "ms").build();
    archive(options(),
        at("2026-09-21T12:00:00Z", 1).event(VALUE, 5, 5).event(VALUE, 9, 9).event(VALUE, 7, 7)
            .event(text, 1, "a\0b", new byte[] {1}),
        at("2026-09-21T12:00:00Z", 1).incarnation(new Incarnation(7, 7)).event(VALUE, 1, 1));
    archive(options(), at("2026-09-21T12:00:00Z", 2).event(VALUE, 8, 8));
    assertThat(query("SELECT type, incarnation, ts_ns - 1789992000000000000, id, fields FROM latest ORDER BY 1, 2"))
        .containsExactly(
            "text 00000000000000050000000000000006 1 a\uFFFDb {\"id\": \"a\uFFFDb\", \"blob\": \"\\\\x01\", \"unit\":"
                + " \"ms\"}",
            "value 00000000000000050000000000000006 9 null {\"n\": 9}",
            "value 00000000000000070000000000000007 1 null {\"n\": 1}");
  }

  @Test
  void namesThatAreTooLongOrTakenByOthersKeepTheirEventsApart() throws Exception {
    String stem = "漢".repeat(30);
    List<EventType> types = new ArrayList<>();
    for (String name : List.of(stem + "a", stem + "b", "events", "latest", "event:events", "UPPER", "upper", "a\0")) {
      types.add(EventType.named(name).field("xmin", FieldType.I32).field(name, FieldType.I32)
          .field(name + "2", FieldType.I32).build());
    }
    BatchWriter batch = at("2026-09-21T12:00:00Z", 1);
    for (int i = 0; i < types.size(); i++) {
      batch.event(types.get(i), i, i, 10 * i, 100 * i);
    }
    archive(options(), batch);
    List<String> views = query("SELECT view FROM types ORDER BY name");
    assertThat(views).doesNotHaveDuplicates().contains("event:events", "event:latest", "UPPER", "upper", "a\uFFFD");
    for (String view : views) {
      assertThat(query("SELECT field_xmin > -1 FROM \"" + view + "\"")).containsExactly("t");
    }
    assertThat(query("SELECT sum((fields->>'field_xmin')::int), count(DISTINCT type) FROM events"))
        .containsExactly("28 8");
  }

  @Test
  void anEmitterThatInventsTypesWithoutEndIsRefused() throws Exception {
    try (ArchiveWriter writer = open(options())) {
      for (int i = 0; i <= Catalog.MAX_COLUMNS; i += 250) {
        EventType.Builder type = EventType.named("value");
        for (int field = i; field < i + 250; field++) {
          type.field("f" + field, FieldType.I32);
        }
        Object[] values = new Object[250];
        Arrays.fill(values, 1);
        Appended appended = writer.append(new Position(0, i, nowMs),
            at("2026-09-21T12:00:00Z", i + 1).event(type.build(), 0, values).toByteArray());
        assertThat(appended).isEqualTo(i < Catalog.MAX_COLUMNS ? Appended.ACCEPTED : Appended.REJECTED);
      }
    }
    assertThat(rejections).extracting(Rejection::code).containsExactly("too_many_types");
    assertThat(query("SELECT count(*) FROM value")).containsExactly("4");
  }

  @Test
  void fieldsWhoseNamesDifferOnlyInWhatPostgresqlCannotHoldKeepTheirColumns() throws Exception {
    EventType type = EventType.named("value").field("a\0", FieldType.I32).field("a\uFFFD", FieldType.I32)
        .field("b\0", FieldType.STRING).constant("b\uFFFD", FieldType.STRING, "", "c").build();
    archive(options(), at("2026-09-21T12:00:00Z", 1).event(type, 1, 1, 2, "x"));
    archive(options(), at("2026-09-21T12:00:00Z", 2).event(type, 2, 3, 4, "y"));
    assertThat(query("SELECT \"a\uFFFD\", \"a\uFFFD~\", \"b\uFFFD\", \"b\uFFFD~\" FROM value ORDER BY ts_ns"))
        .containsExactly("1 2 x c", "3 4 y c");
  }

  @ParameterizedTest
  @ValueSource(strings = {"value:20260921", "value:other", "types_pkey", "batches_pkey", "theirs", ":other",
      ":other:other"})
  void typesThatAreCalledLikeSomethingElseThatIsThereAreArchived(String name) throws Exception {
    archive(options(), at("2026-09-21T11:00:00Z", 1).event(VALUE, 1, 1), at("1999-09-21T11:00:00Z", 2)
        .event(VALUE, 1, 1));
    PostgresServer.shared().execute("CREATE VIEW " + schema + ".theirs AS SELECT 1 AS mine");
    EventType type = EventType.named(name).field("n", FieldType.I32).build();
    archive(options(), at("2026-09-21T12:00:00Z", 3).event(type, 1, 7));
    assertThat(query("SELECT fields->>'n' FROM events WHERE type = '" + name + "'")).containsExactly("7");
    assertThat(query("SELECT mine FROM theirs")).containsExactly("1");
  }

  @Test
  void aPartitionIsMadeAlsoIfATypeIsCalledLikeIt() throws Exception {
    EventType day = EventType.named("value:20260922").field("n", FieldType.I32).build();
    archive(options(), at("2026-09-21T12:00:00Z", 1).event(day, 1, 1));
    nowMs = Instant.parse("2026-09-22T12:00:00Z").toEpochMilli();
    archive(options(), at("2026-09-22T12:00:00Z", 2).event(VALUE, 1, 2));
    assertThat(query("SELECT n FROM value")).containsExactly("2");
  }

  @Test
  void manyVersionsOfATypeInOneBatchAreRefused() throws Exception {
    BatchWriter batch = at("2026-09-21T12:00:00Z", 1);
    for (int version = 0; version < 8; version++) {
      EventType.Builder type = EventType.named("value");
      for (int field = 0; field < 250; field++) {
        type.field("f" + version + "_" + field, FieldType.I32);
      }
      Object[] values = new Object[250];
      Arrays.fill(values, 1);
      batch.event(type.build(), version, values);
    }
    try (ArchiveWriter writer = open(options())) {
      assertThat(writer.append(new Position(0, 0, nowMs), batch.toByteArray())).isEqualTo(Appended.REJECTED);
    }
    assertThat(rejections).extracting(Rejection::code).containsExactly("too_many_types");
  }

  @Test
  void constantsThatChangeWithoutEndAreRefused() throws Exception {
    try (ArchiveWriter writer = open(options())) {
      for (int version = 0; version < 8; version++) {
        EventType.Builder type = EventType.named("value");
        for (int constant = 0; constant < 250; constant++) {
          type.constant("c" + version + "_" + constant, FieldType.STRING, "", "v");
        }
        writer.append(new Position(0, version, nowMs),
            at("2026-09-21T12:00:00Z", version + 1).event(type.build(), version).toByteArray());
      }
    }
    assertThat(rejections).extracting(Rejection::code).containsOnly("too_many_types").isNotEmpty();
  }

  @Test
  void typesOfOneBatchThatPostgresqlCannotTellApartAreOne() throws Exception {
    EventType[] types = new EventType[2];
    for (int i = 0; i < types.length; i++) {
      double nan = Double.longBitsToDouble(0x7ff8000000000000L + i);
      types[i] = EventType.named("value").field("n", FieldType.I32).constant("c", FieldType.F64, "", nan).build();
    }
    assertThat(types[0]).isNotEqualTo(types[1]);
    archive(options(), at("2026-09-21T12:00:00Z", 1).event(types[0], 1, 1).event(types[1], 2, 2));
    assertThat(query("SELECT n, c FROM value ORDER BY ts_ns")).containsExactly("1 NaN", "2 NaN");
  }

  @Test
  void theFirstNanosecondThatAnEventMayHaveCanBeRead() throws Exception {
    archive(options(), new BatchWriter().incarnation(EMITTER).sequence(1).host("host").program("program").pid(42)
        .calibration(0, 0, Long.MIN_VALUE, 0, false).event(VALUE, 0, 1));
    assertThat(query("SELECT ts_ns FROM events")).containsExactly("-9223372036854775808");
  }

  @Test
  void aBrokersClockThatIsWrongIsNoReasonToStop() throws Exception {
    try (ArchiveWriter writer = open(options())) {
      for (long brokerMs : new long[] {Long.MAX_VALUE, Long.MIN_VALUE, -1, nowMs}) {
        writer.append(new Position(0, next++, brokerMs),
            at("2026-09-21T12:00:00Z", next).event(VALUE, 1, 1).toByteArray());
        writer.roll();
      }
    }
    assertThat(query("SELECT count(*) FROM value")).containsExactly("4");
  }

  @Test
  void anArchiveMadeWithOtherPartitionsIsNotSpoiled() throws Exception {
    archive(options(), at("2026-09-21T12:00:00Z", 1).event(VALUE, 1, 1));
    assertThatThrownBy(() -> open(options().withPartition(Duration.ofHours(6)))).isInstanceOf(ArchiveException.class)
        .hasMessageContaining("was made with archive.partition=24h: set that, or give this one another archive.schema");
  }

  @Test
  void partitionsOfHoursAreNamedAfterTheirHour() throws Exception {
    archive(options().withPartition(Duration.ofHours(6)), at("2026-09-21T13:00:00Z", 1).event(VALUE, 1, 1));
    assertThat(partitions()).containsExactly("value:20260921T12");
  }

  /** A writer on another thread copies into the same tables in any order. */
  @Test
  void newColumnsOfSeveralTablesDoNotDeadlockWithAWriterThatCopies() throws Exception {
    EventType first = EventType.named("first").field("a", FieldType.I32).build();
    EventType second = EventType.named("second").field("a", FieldType.I32).build();
    archive(options(), at("2026-09-21T13:00:00Z", 1).event(first, 1, 1).event(second, 1, 1));
    EventType firstNow = EventType.named("first").field("a", FieldType.I32).field("b", FieldType.I32).build();
    EventType secondNow = EventType.named("second").field("a", FieldType.I32).field("b", FieldType.I32).build();
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try (Connection copying = PostgresServer.shared().connect(); Statement statement = copying.createStatement()) {
      copying.setAutoCommit(false);
      statement.execute("LOCK TABLE " + schema + Schema.DATA + ".second IN ROW EXCLUSIVE MODE");
      Future<?> writing = thread.submit(() -> {
        archive(options(), at("2026-09-21T13:00:00Z", 2).event(firstNow, 1, 1, 2).event(secondNow, 1, 1, 2));
        return null;
      });
      while (query("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = '" + schema + Schema.DATA
          + ".second'::regclass").isEmpty()) {
        assertThat(writing.isDone()).isFalse();
      }
      statement.execute("SET lock_timeout = '20s'");
      statement.execute("LOCK TABLE " + schema + Schema.DATA + ".first IN ROW EXCLUSIVE MODE");
      copying.commit();
      writing.get();
    } finally {
      thread.shutdown();
    }
    assertThat(query("SELECT sum(first.b), sum(second.b) FROM first, second")).containsExactly("4 4");
  }

  @Test
  void theSpanOfTheNewestEventsHasSomeMoreAtMost() throws Exception {
    archive(options(), at("2026-09-20T12:00:00Z", 1).event(VALUE, 1, 1), at("2026-09-20T13:00:00Z", 2).event(VALUE, 1, 2),
        at("2026-09-21T12:00:00Z", 3).event(VALUE, 1, 3), at("1999-01-01T00:00:00Z", 4).event(VALUE, 1, 4),
        at("2090-01-01T00:00:00Z", 5).event(VALUE, 1, 5));
    try (ArchiveReader reader = PostgresReader.open(options())) {
      List<Long> counts = new ArrayList<>();
      for (int wanted = 1; wanted <= 6; wanted++) {
        try (PreparedStatement query =
                reader.prepare("SELECT count(*) FROM " + reader.events(reader.newest(wanted)) + " AS e");
            ResultSet row = query.executeQuery()) {
          row.next();
          counts.add(row.getLong(1));
        }
      }
      assertThat(counts).containsExactly(2L, 2L, 4L, 4L, 5L, 5L);
    }
  }

  /** The driver sends the name of the machine's time zone; the server does not know this one. */
  @Test
  void theTimeZoneOfTheMachineDoesNotMatter() throws Exception {
    TimeZone before = TimeZone.getDefault();
    TimeZone.setDefault(TimeZone.getTimeZone("IST"));
    try {
      archive(options(), at("2026-09-21T13:00:00Z", 1).event(VALUE, 1, 1));
      try (ArchiveReader reader = PostgresReader.open(options())) {
        assertThat(TimeZone.getDefault().getID()).isEqualTo("IST");
      }
    } finally {
      TimeZone.setDefault(before);
    }
    assertThat(query("SELECT ts FROM value")).containsExactly("2026-09-21 13:00:00+00");
  }

  @Test
  void aWrongPasswordIsAClearErrorWithoutThePassword() throws Exception {
    Path wrong = Files.writeString(directory.resolve("password"), "sesame\n");
    assertThatThrownBy(() -> open(options().withPasswordFile(wrong))).isInstanceOf(ArchiveException.class)
        .hasMessageContaining("password authentication failed")
        .hasMessageContaining("check the user in archive.url and archive.password.file")
        .hasMessageNotContaining("sesame");
    assertThatThrownBy(() -> open(options().withPasswordFile(directory.resolve("none"))))
        .isInstanceOf(ArchiveException.class)
        .hasMessage("the password file " + directory.resolve("none") + " cannot be read");
  }

  @Test
  void tlsIsSpokenWithServersThatTheAuthorityVouchesForAndWithNoOthers() throws Exception {
    try (PostgresServer server = PostgresServer.start(directory.resolve("server"), "--fast", "--tls")) {
      String url = server.url().substring(0, server.url().indexOf('?'));
      PostgresOptions plain = PostgresDatabases.options(url, server.passwordFile(), schema);
      archive(plain.withTlsCa(server.certificates()), at("2026-09-21T12:00:00Z", 1).event(VALUE, 1, 1));
      Path stranger = Files.copy(server.certificates(), directory.resolve("stranger.pem"));
      Files.writeString(stranger, Files.readString(Path.of("/etc/ssl/certs/ca-certificates.crt")));
      assertThatThrownBy(() -> open(plain.withTlsCa(stranger))).hasMessageContaining("cannot connect");
    }
  }

  @Test
  @Timeout(180)
  void readersAndWritersDoNotWaitForEachOther() throws Exception {
    PostgresOptions kept = options().withRetention(Duration.ofDays(7));
    archive(kept, at("2026-09-21T12:00:00Z", 1).event(VALUE, 0, 1));
    EventType other = EventType.named("other").field("n", FieldType.I32).build();
    try (Connection reader = PostgresServer.shared().connect(); Statement statement = reader.createStatement()) {
      reader.setAutoCommit(false);
      statement.execute("SELECT count(*) FROM " + schema + ".events");
      nowMs = Instant.parse("2026-10-01T12:00:00Z").toEpochMilli();
      archive(kept, at("2026-10-01T12:00:00Z", 2).event(VALUE, 0, 2).event(other, 0, 3));
      assertThat(query("SELECT n FROM value ORDER BY n")).containsExactly("1", "2");
      assertThat(query("SELECT n FROM other")).containsExactly("3");
      reader.rollback();
    }
    archive(kept, at("2026-10-01T12:00:00Z", 3).event(VALUE, 0, 4));
    assertThat(query("SELECT fields->>'n' FROM events ORDER BY 1")).containsExactly("2", "3", "4");
    assertThat(partitions()).containsExactly("other:20261001", "value:20261001");
  }

  @Test
  void aPartitionThatSomebodyHasBuiltAViewOnStaysAndTheOthersAreDropped() throws Exception {
    PostgresOptions kept = options().withRetention(Duration.ofDays(7));
    archive(kept, at("2026-09-20T12:00:00Z", 1).event(VALUE, 0, 1), at("2026-09-21T12:00:00Z", 2).event(VALUE, 0, 2));
    PostgresServer.shared().execute(
        "CREATE VIEW " + schema + ".theirs AS SELECT * FROM " + schema + "_data.\"value:20260920\"");
    nowMs = Instant.parse("2026-10-01T12:00:00Z").toEpochMilli();
    archive(kept, at("2026-10-01T12:00:00Z", 3).event(VALUE, 0, 3));
    assertThat(partitions()).containsExactly("value:20260920", "value:20261001");
  }

  /** Makes every such change fail with a serialization failure, as a conflict with another transaction would. */
  private void refuse(String kind, String when) throws Exception {
    PostgresServer.shared().execute("CREATE FUNCTION " + schema + ".refuse() RETURNS trigger LANGUAGE plpgsql AS"
        + " $$BEGIN RAISE SQLSTATE '40001'; END$$; CREATE " + kind + " refuse " + when + " EXECUTE FUNCTION "
        + schema + ".refuse()");
  }

  @Test
  void aWriterWhoseOldPartitionsCannotBeDroppedNowGoesOnWhenTheyCan() throws Exception {
    try (ArchiveWriter writer = open(options().withRetention(Duration.ofDays(7)))) {
      refuse("TRIGGER", "BEFORE DELETE ON " + schema + ".latest FOR EACH STATEMENT");
      writer.append(new Position(0, 0, nowMs), at("2026-09-21T12:00:00Z", 1).event(VALUE, 0, 1).toByteArray());
      assertThatThrownBy(writer::roll).isInstanceOf(ArchiveWriteException.class);
      PostgresServer.shared().execute("DROP TRIGGER refuse ON " + schema + ".latest");
    }
    assertThat(query("SELECT archived, batches FROM ledger")).containsExactly("1 1");
    assertThat(query("SELECT n FROM value")).containsExactly("1");
  }

  @Test
  void aCommitThatIsRefusedCountsNothing() throws Exception {
    try (ArchiveWriter writer = open(options())) {
      refuse("CONSTRAINT TRIGGER",
          "AFTER INSERT ON " + schema + ".positions DEFERRABLE INITIALLY DEFERRED FOR EACH ROW");
      writer.append(new Position(0, 0, nowMs), at("2026-09-21T12:00:00Z", 1).event(VALUE, 0, 1).toByteArray());
      assertThatThrownBy(writer::roll).isInstanceOf(ArchiveWriteException.class);
      PostgresServer.shared().execute("DROP TRIGGER refuse ON " + schema + ".positions");
    }
    assertThat(query("SELECT archived, batches FROM ledger")).containsExactly("1 1");
  }

  @Test
  void aServerThatIsNoPrimaryAnyMoreMayBecomeOneAgain() throws Exception {
    String readOnly = PostgresServer.shared().url() + "?options=-c%20default_transaction_read_only%3Don";
    assertThatThrownBy(() -> open(PostgresDatabases.options(readOnly, PostgresServer.shared().passwordFile(), schema)))
        .isInstanceOf(ArchiveUnavailableException.class).hasMessageContaining("read-only");
  }

  @Test
  void aDatabaseWhereBackslashesEscapeIsNoDoorForNames() throws Exception {
    String old = PostgresServer.shared().url() + "?options=-c%20standard_conforming_strings%3Doff";
    EventType type = EventType.named("\\'").field("n", FieldType.I32)
        .constant("c", FieldType.STRING, "", "\\'").build();
    archive(PostgresDatabases.options(old, PostgresServer.shared().passwordFile(), schema),
        at("2026-09-21T12:00:00Z", 1).event(type, 0, 1));
    assertThat(query("SELECT type, fields->>'c' FROM events")).containsExactly("\\' \\'");
  }
}
