package io.lifeline.jobs.archive.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.Appended;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.servers.PostgresServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is PostgreSQL's own: names, columns, partitions by time, the newest values, who may connect. */
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

  /** A batch whose ticks are nanoseconds from that moment on. */
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
}
