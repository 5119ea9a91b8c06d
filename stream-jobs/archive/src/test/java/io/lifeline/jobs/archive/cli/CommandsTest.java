package io.lifeline.jobs.archive.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.codec.Counter;
import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
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
  void sqlPrintsCsvAsRfc4180QuotesItInLinesOfUnix() {
    assertThat(run(new SqlCommand(), "--csv", "SELECT n, text, NULL AS nothing FROM shown ORDER BY ts")).isZero();
    assertThat(out.toString()).isEqualTo("n,text,nothing\n18446744073709551615,\"comma, \"\"quote\"\"\",\n"
        + "7,\"bell\u0007 and\nline\",\n");
  }

  @Test
  void sqlTellsWhatIsWrongAndFails() {
    assertThat(run(new SqlCommand(), "SELECT nope FROM shown")).isEqualTo(1);
    assertThat(err.toString()).startsWith("sql: Binder Error: Referenced column \"nope\" not found");
    assertThat(run(new SqlCommand(), "--json", "--csv", "SELECT 1")).isEqualTo(2);
    assertThat(run(new SqlCommand())).isEqualTo(2);
  }

  @Test
  void reportSaysWhyItCannotNameABottleneckAndStillKeepsTheBooks() {
    assertThat(run(new ReportCommand(), "--svg", directory.resolve("x.svg").toString())).isZero();
    assertThat(out.toString().lines()).contains(
        "lifelines: not drawn, since no block has a whole lifeline in the archive",
        "bottleneck: none (no block has all of disk.read, net.send, net.receive, disk.write,"
            + " each with .start and .end)",
        "ledger: emitted=2 archived=2 in_flight=0 dropped=0 missing=0 duplicated=0");
    assertThat(directory.resolve("x.svg")).doesNotExist();
  }

  @Test
  void reportComparesWithWhatTheProgramsCounted() {
    assertThat(run(new ReportCommand(), "--emitted", "5")).isZero();
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

  @Test
  void anArchiveThatIsNotThereIsAClearError() {
    directory = directory.resolve("nowhere");
    assertThat(run(new SqlCommand(), "SELECT 1")).isEqualTo(1);
    assertThat(run(new ReportCommand())).isEqualTo(1);
    assertThat(run(new CompactCommand())).isEqualTo(1);
    assertThat(err.toString().lines()).hasSize(3)
        .allMatch(line -> line.contains("there is no archive at " + directory));
  }
}
