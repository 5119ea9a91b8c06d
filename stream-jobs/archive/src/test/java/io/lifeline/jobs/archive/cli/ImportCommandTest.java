package io.lifeline.jobs.archive.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.BatchReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ImportCommandTest {
  private static final String RECORD = """
      {"id": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
       "schedule": {"start": "2026-11-21T05:19:00Z", "duration": "PT2S"},
       "test": {"type": "%s", "spec": {"dest": "b"}}, "result": {"roundtrips": [{"seq": 1, "rtt": "PT0.02S"}]}}
      """;
  private static final String RTT = RECORD.formatted("rtt");

  @TempDir Path directory;

  private final StringWriter err = new StringWriter();

  private int run(String text, String... arguments) throws Exception {
    Path file = Files.writeString(directory.resolve("records.json"), text);
    List<String> all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--output", directory.resolve("out.llb").toString(), file.toString()));
    return new CommandLine(new ImportCommand()).setErr(new PrintWriter(err, true))
        .execute(all.toArray(String[]::new));
  }

  /** Returns the names of the events' types, of all batches. */
  private List<String> types() throws Exception {
    List<String> types = new ArrayList<>();
    byte[] bytes = Files.readAllBytes(directory.resolve("out.llb"));
    for (int at = 0; at < bytes.length; ) {
      int length = Byte.toUnsignedInt(bytes[at + 56]) | Byte.toUnsignedInt(bytes[at + 57]) << 8
          | Byte.toUnsignedInt(bytes[at + 58]) << 16;
      BatchReader batch = new BatchReader().read(bytes, at, length);
      while (batch.next()) {
        types.add(batch.type().name());
      }
      at += length;
    }
    return types;
  }

  @Test
  void recordsStandOneAfterTheOtherOrInAnArray() throws Exception {
    assertThat(run(RTT + RTT)).isZero();
    assertThat(types()).containsExactly("perfsonar.rtt", "perfsonar.rtt");
    assertThat(run("[" + RTT + "," + RTT + "]")).isZero();
    assertThat(types()).hasSize(2);
    assertThat(run("")).isZero();
    assertThat(types()).isEmpty();
    assertThat(err.toString()).endsWith("import: records=0 skipped=0\n");
  }

  @Test
  void aRecordThatCannotBeImportedIsSkippedWithALine() throws Exception {
    assertThat(run(RTT + RECORD.formatted("dns\\u001b[2J") + RTT)).isOne();
    assertThat(types()).hasSize(2);
    assertThat(err.toString()).contains("import: record 2 is skipped: its test is dns").doesNotContain("\u001b")
        .endsWith("import: records=3 skipped=1\n");
  }

  @Test
  void whatIsNoJsonEndsTheImportAfterTheRecordsBefore() throws Exception {
    assertThat(run(RTT + "{\"test\": ")).isOne();
    assertThat(types()).hasSize(1);
    assertThat(err.toString()).contains("no valid JSON").endsWith("import: records=1 skipped=0\n");
  }

  @Test
  void anUnknownFormatIsWrongUsage() throws Exception {
    assertThat(run(RTT, "--format", "xls")).isEqualTo(2);
    assertThat(err.toString()).contains("--format is perfsonar, not 'xls'");
  }

  @Test
  void aFileThatIsNotThereIsAClearError() {
    assertThat(new CommandLine(new ImportCommand()).setErr(new PrintWriter(err, true))
        .execute("--output", directory.resolve("out.llb").toString(), directory.resolve("none").toString())).isOne();
    assertThat(err.toString()).contains("none");
  }
}
