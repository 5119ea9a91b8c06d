package io.lifeline.console.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.console.access.Access;
import io.lifeline.console.access.Audit;
import io.lifeline.console.archive.Workers;
import io.lifeline.console.cli.WorkerMain;
import io.lifeline.console.index.Origin;
import io.lifeline.console.index.TraceIndex;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import io.lifeline.jobs.archive.sql.ArchiveLocation;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Position;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Asks a real server, whose archive has a session, one within it, and one that is only a name in a context. */
class SessionOperationsTest {
  private static final String OUTER = "0af7651916cd43dd8448eb211c80319c";
  private static final String INNER = "11f7651916cd43dd8448eb211c80319c";
  private static final long NOW_MS = 1_790_000_000_000L;
  private static final long MEMORY = 128L << 20; // an eighth of a console's, as the queries that exceed it

  private static final EventType START = EventType.named("session.start").field("id", FieldType.BYTES)
      .field("parent", FieldType.BYTES).field("name", FieldType.STRING).build();
  private static final EventType END =
      EventType.named("session.end").field("id", FieldType.BYTES).field("ok", FieldType.BOOL).build();
  private static final EventType CPU = EventType.named("host.cpu").field("user", FieldType.U64).build();

  @TempDir static Path directory;
  private static final Map<Long, Workers> OPEN = new HashMap<>();

  private static BatchWriter batch(int emitter, long sequence, String program) {
    return new BatchWriter().incarnation(new Incarnation(1, emitter)).sequence(sequence).host("here").program(program)
        .pid(42).calibration(0, 0, NOW_MS * 1_000_000, 0, false);
  }

  private static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex);
  }

  @BeforeAll
  static void archive() throws Exception {
    BatchWriter[] batches = {
      batch(1, 1, "copy").context("session", OUTER).event(START, 100, bytes(OUTER), new byte[0], "night's copy"),
      batch(2, 1, "part").context("session", INNER).context("parent", OUTER)
          .event(START, 200, bytes(INNER), bytes(OUTER), "part 1").event(END, 250, bytes(INNER), false),
      batch(3, 1, "probe").event(CPU, 50, 1).event(CPU, 150, 1),
      batch(1, 2, "copy").context("session", OUTER).event(END, 300, bytes(OUTER), true),
      batch(4, 1, "other").context("session", "by hand"),
    };
    try (ArchiveWriter writer = new ParquetArchive(ParquetOptions.in(directory).withThreads(1)).open(rejection -> {})) {
      for (int i = 0; i < batches.length; i++) {
        writer.append(new Position(0, i, NOW_MS + i), batches[i].toByteArray());
      }
    }
  }

  /** Processes that stay for all tests of the class, as those of a console do. */
  private static Workers workers(long limitMs) {
    return OPEN.computeIfAbsent(limitMs, limit -> new Workers(WorkerMain.class.getName(),
        new ArchiveLocation(directory.toString(), null, null, "lifeline"), MEMORY, limit));
  }

  @AfterAll
  static void end() {
    OPEN.values().forEach(Workers::close);
  }

  private JsonNode ask(String path, int status) throws Exception {
    return ask(path, status, 600_000);
  }

  private JsonNode ask(String path, int status, long limitMs) throws Exception {
    return ask(path, HttpRequest.newBuilder(), status, limitMs);
  }

  private JsonNode ask(String path, HttpRequest.Builder request, int status, long limitMs) throws Exception {
    ArchiveQuestions questions = new ArchiveQuestions(workers(limitMs));
    try (Server server = Server.start(new Server.Address("127.0.0.1", 0, null),
        Routes.of(new SessionOperations(questions), new ArchiveOperations(questions), new ReportOperations(questions),
            new TraceOperations(index(), questions)), new Metrics(), Access.withoutLogin(), Audit.none(), 1_000)) {
      HttpResponse<String> answer = HttpClient.newHttpClient().send(
          request.uri(URI.create(server.url()).resolve("/api/v1" + path)).build(),
          HttpResponse.BodyHandlers.ofString());
      if (status != 0) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
      }
      return new ObjectMapper().readTree(answer.body());
    }
  }

  /** Two events of an object in each of these emitters, the object called as the program. */
  private static TraceIndex index() {
    TraceIndex index = new TraceIndex(1_000);
    index.add(() -> {
      for (int emitter = 1; emitter < 4; emitter++) {
        String program = List.of("copy", "part", "probe").get(emitter - 1);
        int origin = index.origin(new Origin(new Incarnation(1, emitter).toString(), program, "here", 42));
        index.event(100, index.kind("begin", "info"), program, origin);
        index.event(200, index.kind("end", "info"), program, origin);
      }
    });
    return index;
  }

  private static List<String> ids(JsonNode sessions) {
    return ids(sessions, "session");
  }

  private static List<String> ids(JsonNode all, String name) {
    List<String> ids = new ArrayList<>();
    all.forEach(one -> ids.add(one.path(name).asText()));
    return ids;
  }

  @Test
  void sessionsAreListedTheNewestFirst() throws Exception {
    JsonNode answer = ask("/sessions", 200);
    assertThat(ids(answer.path("sessions"))).containsExactly("by hand", INNER, OUTER);
    assertThat(answer.path("complete").asBoolean()).isTrue();
    JsonNode inner = answer.path("sessions").get(1);
    assertThat(inner.path("parent").asText()).isEqualTo(OUTER);
    assertThat(inner.path("ok").asBoolean(true)).isFalse();
    assertThat(inner.path("from").asText()).isEqualTo(Long.toString(NOW_MS * 1_000_000 + 200));
    JsonNode named = answer.path("sessions").get(0);
    assertThat(named.hasNonNull("name") || named.hasNonNull("ok")).isFalse();
    assertThat(named.path("ended").asBoolean()).isFalse();
  }

  @Test
  void aSearchFindsNamesProgramsAndHostsAndIsOnlyText() throws Exception {
    for (String found : List.of("NIGHT'S", "night's copy", OUTER.substring(4, 20))) {
      assertThat(ids(ask("/sessions?text=" + URLEncoder.encode(found, StandardCharsets.UTF_8), 200)
          .path("sessions"))).as(found).contains(OUTER).doesNotContain("by hand");
    }
    for (String nothing : List.of("' OR true --", "%", "\\", "\0")) {
      assertThat(ids(ask("/sessions?text=" + URLEncoder.encode(nothing, StandardCharsets.UTF_8), 200)
          .path("sessions"))).as(nothing).isEmpty();
    }
  }

  @Test
  void aSessionHasItsEventsItsChildrenAndWhatItsHostsDidMeanwhile() throws Exception {
    JsonNode outer = ask("/sessions/" + OUTER, 200);
    assertThat(outer.path("session").path("programs").asText()).isEqualTo("copy, part");
    assertThat(outer.path("session").path("events").asLong()).isEqualTo(4);
    assertThat(ids(outer.path("children"))).containsExactly(INNER);
    assertThat(outer.path("types").toString()).contains("{\"type\":\"host.cpu\",\"via\":\"host\",\"host\":\"here\","
        + "\"events\":1}", "{\"type\":\"session.start\",\"via\":\"session\",\"host\":\"here\",\"events\":2}");
    assertThat(outer.path("bottleneck").asText()).startsWith("none (");
    assertThat(outer.hasNonNull("stage")).isFalse();
    assertThat(ask("/sessions/by%20hand", 200).path("children")).isEmpty();
  }

  @Test
  void lifelinesOfASessionAreThoseOfItsPrograms() throws Exception {
    String span = "from=0&to=1000";
    assertThat(ids(ask("/lifelines?" + span, 200).path("lines"), "id"))
        .containsExactlyInAnyOrder("copy", "part", "probe");
    assertThat(ids(ask("/lifelines?" + span + "&session=" + OUTER, 200).path("lines"), "id"))
        .containsExactlyInAnyOrder("copy", "part");
    assertThat(ids(ask("/lifelines?" + span + "&session=" + INNER, 200).path("lines"), "id")).containsExactly("part");
    assertThat(ask("/lifelines?" + span + "&session=nothing", 200).path("lines")).isEmpty();
    assertThat(ids(ask("/slowest?" + span + "&session=" + INNER, 200).path("objects"), "id")).containsExactly("part");
    for (String path : List.of("/steps?", "/distribution?", "/heat?")) {
      ask(path + span + "&session=" + INNER, 200);
    }
  }

  @Test
  void anUnknownSessionIsNotFound() throws Exception {
    assertThat(ask("/sessions/" + OUTER.replace('0', '1'), 404).toString()).contains("no such session");
    assertThat(ask("/sessions/" + URLEncoder.encode("' OR '1'='1", StandardCharsets.UTF_8), 404).toString())
        .contains("no such session");
  }

  @Test
  void eachAnswerHasATimeLimit() throws Exception {
    for (String path : List.of("/sessions", "/sessions/" + OUTER)) {
      assertThat(ask(path, 400, 0).toString()).contains("ended after 0 s");
    }
    HttpRequest.Builder query = HttpRequest.newBuilder().header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString("{\"sql\": \"SELECT count(*) FROM ledger\"}"));
    assertThat(ask("/sql", query, 400, 0).toString()).contains("ended after 0 s");
    assertThat(ask("/sql", query, 200, 600_000).path("rows").toString()).isEqualTo("[[4]]");
  }

  private JsonNode sql(String text, int status, long limitMs) throws Exception {
    return ask("/sql", HttpRequest.newBuilder().header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(new ObjectMapper().writeValueAsString(Map.of("sql", text, "limit",
            10_000)))), status, limitMs);
  }

  @Test
  void aQueryThatWouldTakeHoursIsEnded() throws Exception {
    for (String text : List.of("SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE (a.range * 31) %"
        + " (b.range + 2) = 1", "SELECT levenshtein(repeat('a', 3000000), repeat('b', 3000000))")) {
      assertThat(sql(text, 400, 1_000).toString()).as(text).contains("ended after 1 s");
    }
    sql("SELECT 1", 200, 600_000);
  }

  @Test
  void aQueryThatNeedsTooMuchEndsAloneOrIsCut() throws Exception {
    for (String text : List.of("SELECT repeat('x', 112500000)", "SELECT repeat(chr(1234), 400000) FROM range(125)",
        "SELECT json_contains('" + "[".repeat(200_000) + "]".repeat(200_000) + "', '1')",
        "SELECT range(30000) FROM range(375)", "SELECT * FROM test_all_types()",
        "SELECT " + String.join(",", Collections.nCopies(1_000, "repeat('y', 22500)")))) {
      HttpRequest.Builder query = HttpRequest.newBuilder().header("Content-Type", "application/json")
          .POST(HttpRequest.BodyPublishers.ofString(new ObjectMapper().writeValueAsString(Map.of("sql", text))));
      JsonNode answer = ask("/sql", query, 0, 600_000);
      assertThat(answer.path("status").asInt(200)).as(answer.toString()).isIn(200, 400);
      assertThat(answer.toString()).as(text).doesNotContain("java.").hasSizeLessThan(20 << 20);
      sql("SELECT 1", 200, 600_000);
    }
    JsonNode cut = sql("SELECT repeat('x', 80000) FROM range(300)", 200, 600_000);
    assertThat(cut.path("truncated").asBoolean()).isTrue();
    assertThat(cut.path("rows").size()).isBetween(40, 60);
  }

  @Test
  void whatAQueryDoesToTablesIsSeenByNobodyElse() throws Exception {
    String ledger = ask("/ledger", 200).toString();
    for (String change : List.of("UPDATE routes SET program = 'forged', emitted = 1000000 RETURNING 1",
        "DELETE FROM routes RETURNING 1", "INSERT INTO routes SELECT * FROM routes RETURNING 1")) {
      for (String text : List.of("WITH x AS (" + change + ") SELECT count(*) FROM x", "SELECT (WITH x AS (" + change
          + ") SELECT count(*) FROM x)", "SELECT * FROM query('WITH x AS (" + change.replace("'", "''")
          + ") SELECT count(*) FROM x')")) {
        assertThat(sql(text, 400, 600_000).toString()).as(text).doesNotContain("rows");
        assertThat(ask("/ledger", 200).toString()).as(text).isEqualTo(ledger);
        assertThat(sql("SELECT count(*) FROM routes WHERE program = 'forged'", 200, 600_000).path("rows").toString())
            .isEqualTo("[[0]]");
      }
    }
  }
}
