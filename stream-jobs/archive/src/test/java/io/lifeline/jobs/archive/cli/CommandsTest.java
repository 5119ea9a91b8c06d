package io.lifeline.jobs.archive.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.cases.Hostile;
import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import io.lifeline.jobs.archive.DuckDb;
import io.lifeline.jobs.archive.Sql;
import io.lifeline.jobs.archive.parquet.ParquetArchive;
import io.lifeline.jobs.archive.parquet.ParquetOptions;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class CommandsTest {
  private static final EventType SHOWN = EventType.named("shown").field("n", FieldType.U64).field("x", FieldType.F64)
      .field("text", FieldType.STRING).field("ok", FieldType.BOOL).build();

  @TempDir Path directory;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @BeforeEach
  void archiveSomething() throws Exception {
    try (ArchiveWriter writer = Archives.open(directory)) {
      writer.append(Archives.at(0), Archives.batch(new Incarnation(1, 2), 1).counter(Counter.EMITTED, 2)
          .event(SHOWN, 1, -1L, 0.5, "comma, \"quote\"", true)
          .event(SHOWN, 2, 7L, Double.NaN, "bell\u0007 and\nline", false).toByteArray());
    }
  }

  private int run(Object command, String... arguments) {
    List<String> all = new ArrayList<>(List.of("--archive", directory.toString()));
    all.addAll(Arrays.asList(arguments));
    return new CommandLine(command).setOut(new PrintWriter(out)).setErr(new PrintWriter(err))
        .execute(all.toArray(new String[0]));
  }

  @Test
  void sqlPrintsATableWithNumbersToTheRightAndWithoutControlCharacters() {
    assertThat(run(new SqlCommand(), "SELECT n, text, ok FROM shown ORDER BY ts")).isZero();
    assertThat(out.toString().lines()).containsExactly(
        "                   n  text            ok",
        "--------------------  --------------  -----",
        "18446744073709551615  comma, \"quote\"  true",
        "                   7  bell\uFFFD and\uFFFDline  false",
        "(2 rows)");
  }

  @Test
  void sqlPrintsJsonLinesThatParse() throws Exception {
    String sql = "SELECT n, x, text, ok, fields FROM shown JOIN events USING (ts) ORDER BY ts";
    assertThat(run(new SqlCommand(), "--json", sql)).isZero();
    List<String> lines = out.toString().lines().toList();
    JsonNode first = new ObjectMapper().readTree(lines.get(0));
    assertThat(first.get("n").bigIntegerValue()).isEqualTo(new BigInteger("18446744073709551615"));
    assertThat(first.get("ok").booleanValue()).isTrue();
    assertThat(first.get("fields").get("text").asText()).isEqualTo("comma, \"quote\"");
    assertThat(new ObjectMapper().readTree(lines.get(1)).get("x").asText()).isEqualTo("NaN");
    assertThat(lines).hasSize(2);
  }

  @Test
  void sqlPrintsEachColumnAndNestedValuesAsJson() {
    assertThat(run(new SqlCommand(), "--json", "SELECT 1 AS a, 2 AS a, [1, NULL] AS l,"
        + " {'s': 'a, \"b', 'n': [NULL]} AS s, MAP {'k': 2.5} AS m, ['{\"j\": 1}'::JSON] AS j")).isZero();
    assertThat(out.toString()).isEqualTo("{\"a\":1,\"a_1\":2,\"l\":[1,null],\"s\":{\"s\":\"a, \\\"b\",\"n\":[null]},"
        + "\"m\":{\"k\":2.5},\"j\":[{\"j\": 1}]}\n");
  }

  @Test
  void sqlPrintsCsvAsRfc4180QuotesItInLinesOfUnix() {
    assertThat(run(new SqlCommand(), "--csv", "SELECT n, text, NULL AS nothing, '' AS empty FROM shown ORDER BY ts"))
        .isZero();
    assertThat(out.toString()).isEqualTo("n,text,nothing,empty\n18446744073709551615,\"comma, \"\"quote\"\"\",,\"\"\n"
        + "7,\"bell\u0007 and\nline\",,\"\"\n");
  }

  @Test
  void sqlAndFilesAreLimitedToATime() {
    for (String[] span : new String[][] {{"--from", "2026-09-21"}, {"--to", "2026-09-21"}}) {
      assertThat(run(new SqlCommand(), "--csv", span[0], span[1], "SELECT count(*) AS n FROM shown")).isZero();
      assertThat(run(new FilesCommand(), "--type", "shown", "--shared", span[0], span[1])).isZero();
    }
    assertThat(out.toString()).matches("n\n2\n\\S+\\.parquet\\Rn\n0\n");
    assertThat(run(new SqlCommand(), "--from", "yesterday", "SELECT 1")).isEqualTo(2);
    assertThat(err.toString()).contains("--from is a time such as");
    assertThat(run(new ReportCommand(), "--from", "2026-09-22", "--to", "2026-09-21")).isEqualTo(2);
    assertThat(run(new SqlCommand(), "--from", "2026-09-22", "--to", "2026-09-21", "SELECT 1")).isEqualTo(2);
    assertThat(run(new ExportCommand(), "--format", "csv", "--since", "2026-09-22", "--until", "2026-09-21"))
        .isEqualTo(2);
    assertThat(err.toString().split("--from 2026-09-22 is after --to 2026-09-21", -1)).hasSize(4);
  }

  @Test
  void sqlTellsWhatIsWrongAndFails() {
    assertThat(run(new SqlCommand(), "SELECT nope FROM shown")).isEqualTo(1);
    assertThat(err.toString()).startsWith("sql: Binder Error: Referenced column \"nope\" not found");
    assertThat(run(new SqlCommand(), "--json", "--csv", "SELECT 1")).isEqualTo(2);
    assertThat(run(new SqlCommand())).isEqualTo(2);
  }

  /**
   * Reports on operations named like types of the corpus, in an archive of the whole corpus except the batch of 1,500
   * types, which would take a minute here and add only quantity.
   */
  @Test
  @Tag("system")
  void whatPeopleReadOfHostileBatchesDrivesNoTerminalAndIsNoMarkup() throws Exception {
    try (ArchiveWriter writer = Archives.open(directory)) {
      long offset = 1;
      for (Path hostile : Archives.hostileBatches()) {
        if (hostile.endsWith("types-1500.llb")) {
          continue;
        }
        byte[] bytes = Files.readAllBytes(hostile);
        writer.append(Archives.at(offset++), bytes);
        if (hostile.endsWith("type-names.llb") || hostile.endsWith("control-characters.llb")) {
          writer.append(Archives.at(offset), operations(bytes, offset));
          offset++;
        }
      }
    }
    Path svg = directory.resolve("lifelines.svg");
    for (String[] question : new String[][] {{"SELECT * FROM events"}, {"SHOW TABLES"}}) {
      assertThat(run(new SqlCommand(), question)).as("%s", err).isZero();
    }
    assertThat(run(new ReportCommand(), "--svg", svg.toString())).as("%s", err).isZero();
    assertThat(out + "" + err).doesNotContainPattern(
        "[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]");
    assertThat(out.toString().lines().filter(line -> line.contains("nimda"))).isNotEmpty();
    if (Files.exists(svg)) {
      assertThat(Files.readString(svg)).doesNotContain("<script", "<img");
    }
    out.getBuffer().setLength(0);
    assertThat(run(new ReportCommand(), "--json")).isZero();
    assertThat(new ObjectMapper().readTree(out.toString()).path("stages")).hasSizeGreaterThan(25);
  }

  /** Includes the thousands of types, the unbounded events and the rejected batches. */
  @Test
  @Tag("system")
  void whatPeopleAskOfHostileBatchesWithoutMeasureIsAnsweredInBoundedMemory() throws Exception {
    List<Hostile> corpus = Hostile.made("parquet", "remembering");
    try (ArchiveWriter writer = new ParquetArchive(ParquetOptions.in(directory)).open(rejection -> {})) {
      long offset = 1;
      for (byte[] batch : corpus.stream().flatMap(each -> each.batches().stream()).toList()) {
        writer.append(Archives.at(offset++), batch);
      }
    }
    assertThat(Hostile.peakMemory(() -> {
      assertThat(run(new ReportCommand(), "--json")).as("%s", err).isZero();
      assertThat(run(new SqlCommand(), "--csv", "SELECT count(*) AS n FROM events")).as("%s", err).isZero();
    })).isLessThan(Hostile.MAX_MEMORY);
    assertThat(out.toString()).endsWith("n\n" + (2 * 20_000 + 65_535 + 6 + 1 + 1 + 301 + 2 * 131_072 + 2) + "\n");
  }

  /** Returns a start and an end of an operation for every type of a batch, named as valid emitters do. */
  private static byte[] operations(byte[] hostile, long emitter) throws Exception {
    BatchWriter batch = Archives.batch(new Incarnation(7, emitter), 1);
    for (EventType type : new BatchReader().read(hostile, 0, hostile.length).types()) {
      if (type.name().getBytes(StandardCharsets.UTF_8).length < 200) {
        batch.event(EventType.named(type.name() + ".start").field("id", FieldType.U64).build(), 1, 1L);
        batch.event(EventType.named(type.name() + ".end").field("id", FieldType.U64).build(), 2, 1L);
      }
    }
    return batch.toByteArray();
  }

  @Test
  void reportSaysWhyItCannotNameABottleneckAndStillKeepsTheBooks() {
    assertThat(run(new ReportCommand(), "--svg", directory.resolve("x.svg").toString())).isZero();
    assertThat(out.toString().lines()).contains(
        "lifelines: not drawn, since no block has a whole lifeline in the archive",
        "bottleneck: none (no operation of a component has both events .start and .end with an id, or a caliper's"
            + " report)",
        "ledger: emitted=2 archived=2 in_flight=0 dropped=0 missing=0 duplicated=0");
    assertThat(directory.resolve("x.svg")).doesNotExist();
  }

  @Test
  void reportComparesWithWhatTheProgramsCounted() {
    assertThat(run(new ReportCommand(), "--emitted", "5")).isZero();
    assertThat(run(new ReportCommand(), "--emitted", "-1")).isEqualTo(2);
    assertThat(out.toString()).contains("ledger: emitted=5 archived=2 in_flight=3 dropped=0 missing=0 duplicated=0");
  }

  @Test
  void compactSaysWhatItDid() throws Exception {
    try (ArchiveWriter writer = Archives.open(directory)) {
      writer.append(Archives.at(1), Archives.serials(new Incarnation(1, 2), 2, 10));
    }
    assertThat(run(new CompactCommand(), "--grace-seconds", "0")).isZero();
    assertThat(out.toString()).isEqualTo("compact: manifests=2->1 files=4->2 deleted=0" + System.lineSeparator());
  }

  /** Covers readers without Lifeline: versions, rare types, hostile names, and files that a compaction left. */
  @Test
  void filesTellsOtherProgramsWhereTheEventsOfATypeAre() throws Exception {
    String name = "../o'dd\"\0\n".repeat(25);
    EventType narrow = EventType.named(name).field("n", FieldType.I32).build();
    EventType wide = EventType.named(name).field("n", FieldType.I64).field("../x", FieldType.STRING).build();
    for (int rareRows : new int[] {0, 0, 10_000}) {
      ParquetOptions options = ParquetOptions.in(directory).withThreads(1).withRareRows(rareRows);
      try (ArchiveWriter writer = new ParquetArchive(options).open(rejection -> {})) {
        long next = writer.nextOffset(0);
        writer.append(Archives.at(next), Archives.batch(new Incarnation(1, 2), next + 1).event(narrow, 1, 5)
            .event(wide, 2, 6L, "text").event(SHOWN, 3, 0L, 0.0, "", true).toByteArray());
      }
    }
    assertThat(run(new CompactCommand())).isZero();
    out.getBuffer().setLength(0);
    assertThat(run(new FilesCommand(), "--type", name, "--sql")).isZero();
    assertThat(duckdb("SELECT count(*), sum(n), count(\"../x\") FROM (" + out + ")")).isEqualTo("6 33 3");
    out.getBuffer().setLength(0);
    assertThat(run(new FilesCommand(), "--type", name)).isZero();
    assertThat(err.toString()).contains("also in 1 files that hold several types");
    assertThat(out.toString().lines()).hasSize(2).allMatch(file -> Path.of(file).isAbsolute());
    assertThat(duckdb("SELECT count(*), sum(n) FROM read_parquet(" + Sql.literals(out.toString().lines().toList())
        + ", union_by_name = true)")).isEqualTo("4 22");
    out.getBuffer().setLength(0);
    assertThat(run(new FilesCommand(), "--type", name, "--shared")).isZero();
    assertThat(duckdb("SELECT count(*), sum((fields->>'n')::INTEGER) FROM read_parquet("
        + Sql.literals(out.toString().lines().toList()) + ") WHERE name = " + Sql.literal(Sql.clean(name))))
        .isEqualTo("2 11");
    assertThat(run(new FilesCommand(), "--type", "no.such.type")).isEqualTo(1);
    assertThat(err.toString()).contains("has no event type 'no.such.type'");
  }

  /** Returns the first row, in a DuckDB that does not know the archive. */
  private static String duckdb(String sql) throws Exception {
    try (var duck = DuckDb.open(); var statement = duck.createStatement(); var row = statement.executeQuery(sql)) {
      row.next();
      List<String> cells = new ArrayList<>();
      for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
        cells.add(row.getString(i));
      }
      return String.join(" ", cells);
    }
  }

  /** An archive whose manifests are lost looks empty, and so does a directory that is none. */
  @Test
  void whereNothingIsReadNothingIsCalledGood() throws Exception {
    List<Object> commands = List.of(new VerifyCommand(), new CompactCommand(), new SqlCommand(), new ReportCommand(),
        new FilesCommand(), new ExportCommand());
    List<List<String>> arguments = List.of(List.of(), List.of(), List.of("SELECT 1"), List.of(),
        List.of("--type", "shown"), List.of("--format", "csv"));
    try (var files = Files.list(directory.resolve("manifests"))) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    for (int i = 0; i < commands.size(); i++) {
      assertThat(run(commands.get(i), arguments.get(i).toArray(new String[0]))).isEqualTo(1);
    }
    assertThat(err.toString().lines()).hasSize(6).allMatch(line -> line.contains("the archive " + directory
        + " has lost its manifests: it has 2 data files that none names"));
    err.getBuffer().setLength(0);
    directory = Files.createDirectory(directory.resolve("none"));
    for (int i = 0; i < commands.size(); i++) {
      assertThat(run(commands.get(i), arguments.get(i).toArray(new String[0]))).isEqualTo(1);
    }
    assertThat(err.toString().lines()).hasSize(6).allMatch(line -> line.contains("the archive " + directory
        + " is empty: nothing has been published into it yet, and it has no file archive-id"));
    assertThat(directory).as("compact creates no archive").isEmptyDirectory();
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void anArchiveThatIsNotThereIsAClearError() {
    directory = directory.resolve("nowhere");
    assertThat(run(new SqlCommand(), "SELECT 1")).isEqualTo(1);
    assertThat(run(new ReportCommand())).isEqualTo(1);
    assertThat(run(new CompactCommand())).isEqualTo(1);
    assertThat(run(new FilesCommand(), "--type", "shown")).isEqualTo(1);
    assertThat(run(new VerifyCommand())).isEqualTo(1);
    assertThat(err.toString().lines()).hasSize(5)
        .allMatch(line -> line.contains("there is no archive at " + directory));
  }
}
