package io.lifeline.jobs.archive.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.codec.EventType;
import io.lifeline.codec.FieldType;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.archive.Archives;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class ExportCommandTest {
  private static final EventType SHOWN =
      EventType.named("shown").field("id", FieldType.U64).field("x", FieldType.F64).build();

  @TempDir Path directory;

  private final ByteArrayOutputStream standard = new ByteArrayOutputStream();
  private final StringWriter err = new StringWriter();

  @BeforeEach
  void archiveSomething() throws Exception {
    try (ArchiveWriter writer = Archives.open(directory.resolve("archive"))) {
      writer.append(Archives.at(0), Archives.batch(new Incarnation(1, 2), 1)
          .event(SHOWN, 2, 2, Double.POSITIVE_INFINITY).event(SHOWN, 1, 1, 0.1).toByteArray());
    }
  }

  private int export(String... arguments) {
    return export(standard, arguments);
  }

  private int export(OutputStream to, String... arguments) {
    List<String> all = new ArrayList<>(List.of("--archive", directory.resolve("archive").toString()));
    all.addAll(List.of(arguments));
    return new CommandLine(new ExportCommand(to)).setErr(new PrintWriter(err, true))
        .execute(all.toArray(String[]::new));
  }

  @Test
  void aTypeThatIsMistypedIsAnsweredWithThoseThatThereAre() {
    assertThat(export("--format", "bp", "--type", "shwon*")).isZero();
    assertThat(err.toString()).contains("no event is of a type that --type names; the types are 'shown'")
        .contains("events=0");
    err.getBuffer().setLength(0);
    assertThat(export("--format", "bp", "--type", "shown", "--program", "nobody")).isZero();
    assertThat(err.toString()).doesNotContain("the types are");
  }

  @Test
  void aSessionIsExportedAlone() {
    assertThat(export("--format", "bp", "--session", "no such session")).isZero();
    assertThat(standard.toString()).isEmpty();
    assertThat(export("--format", "perfsonar")).isZero();
    assertThat(err.toString()).endsWith("export: events=2 records=0 not_shown=2\n");
  }

  private List<String> files() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void eventsGoToStandardOutputInOrderOfTimeAndAreCounted() {
    assertThat(export("--format", "bp")).isZero();
    assertThat(standard).hasToString("""
        ts=2026-09-21T14:13:20.000000Z event=shown level=Info id=1 x=0.1 host=host prog=program pid=42 tid=1
        ts=2026-09-21T14:13:20.000000Z event=shown level=Info id=2 x=inf host=host prog=program pid=42 tid=1
        """);
    assertThat(err).hasToString("export: events=2\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"perfetto", "chrome", "paraver", "bp", "ulm", "xml", "csv", "parquet", "json"})
  void aFileIsWrittenInEveryFormatAndNothingElseIsLeft(String format) throws Exception {
    Path file = directory.resolve("out." + format);
    assertThat(export("--format", format, "--output", file.toString())).as("%s", err).isZero();
    assertThat(file).isNotEmptyFile();
    assertThat(files()).containsExactlyElementsOf(format.equals("paraver")
        ? List.of("archive", "out.paraver", "out.pcf", "out.row") : List.of("archive", "out." + format));
    assertThat(standard.size()).isZero();
  }

  @Test
  void parquetGoesToStandardOutputToo() {
    assertThat(export("--format", "parquet", "--output", "-", "--temp-dir", directory.toString())).isZero();
    assertThat(standard.toString()).startsWith("PAR1").endsWith("PAR1");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "--type s* --program prog* --host host             | 2",
    "--type other --type shown                         | 2",
    "--type other                                      | 0",
    "--from 1790000000.000000002                       | 1",
    "--since 2026-09-21T14:13:20Z --until 2026-09-21T14:13:20.000000002 | 1",
    "--to 2026-09-21                                   | 0",
    "--from 9000000000                                 | 0",
    "--where id='2'                                    | 1",
  })
  void optionsSelectEvents(String options, int events) {
    List<String> all = new ArrayList<>(List.of("--format", "json"));
    all.addAll(List.of(options.strip().split(" ")));
    assertThat(export(all.toArray(String[]::new))).as("%s", err).isZero();
    assertThat(standard.toString().lines()).hasSize(events);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '~', value = {
    "--format xls           | perfetto, chrome, paraver, bp, ulm, xml, csv, parquet, perfsonar or json, not 'xls'",
    "--format bp --from now | --from is a time such as 2026-11-21T05:19:00Z, seconds since 1970, or an age such as",
    "--format bp --to 9e99  | --to is a time",
    "--format paraver       | a Paraver trace consists of three files: give --output the name of the first one",
    "--format bp --max-open 0   | --max-open and --max-tracks are from 1 to 10000000",
    "--format bp --memory-mib 1 | --memory-mib is at least 256",
  })
  void aWrongCommandLineIsOneSentence(String options, String message) {
    assertThat(export(options.split(" "))).isEqualTo(2);
    assertThat(err.toString()).contains(message);
  }

  @Test
  void failuresSayWhatIsWrong() throws Exception {
    assertThat(export("--format", "bp", "--where", "nope = 1")).isEqualTo(1);
    assertThat(err.toString()).contains("nope");
    assertThat(export("--format", "bp", "--where", "(fields->>'x')::INT = 1")).isEqualTo(1);
    assertThat(err.toString()).contains("Could not convert string");
    Path nowhere = directory.resolve("nowhere/x");
    assertThat(export("--format", "bp", "--output", nowhere.toString())).isEqualTo(1);
    assertThat(err.toString()).contains("cannot write " + nowhere + ": its directory does not exist");
    assertThat(export(new OutputStream() {
      @Override
      public void write(int b) throws IOException {
        throw new IOException("Broken pipe");
      }
    }, "--format", "bp")).isEqualTo(1);
    assertThat(err.toString()).contains("cannot write to standard output: Broken pipe");
    assertThat(export("--format", "bp", "--temp-dir", "/nowhere")).isEqualTo(1);
    assertThat(err.toString()).contains("set --temp-dir");
    assertThat(files()).containsExactly("archive");
  }

  @Test
  void agesCountBackFromNow() {
    assertThat(TimeOption.parse("1.5h", 10_000_000_000_000L)).isEqualTo(10_000_000_000_000L - 5_400_000_000_000L);
    assertThat(TimeOption.parse("2", 0)).isEqualTo(2_000_000_000L);
    assertThat(TimeOption.parse("1969-12-31T23:59:59.5Z", 0)).isEqualTo(-500_000_000L);
    assertThat(TimeOption.parse("1970-01-01T01:00:02+01:00", 0)).isEqualTo(2_000_000_000L);
    assertThat(TimeOption.parse("1970-01-02", 0)).isEqualTo(86_400_000_000_000L);
  }

  @Test
  void anArchiveThatIsNotThereIsAClearError() {
    directory = directory.resolve("nowhere");
    assertThat(export("--format", "bp")).isEqualTo(1);
    assertThat(err.toString()).startsWith("export: there is no archive at ");
  }

  /** Exports two million events, which takes seconds, and interrupts it as soon as there is a part of the file. */
  @Test
  @Tag("system")
  void anInterruptRemovesTheUnfinishedFiles() throws Exception {
    try (ArchiveWriter writer = Archives.open(directory.resolve("archive"))) {
      for (int i = 0; i < 200; i++) {
        writer.append(Archives.at(1 + i), Archives.serials(new Incarnation(5, 5), 1 + i, 10_000));
      }
    }
    Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
        System.getProperty("java.class.path"), Interrupted.class.getName(), "--archive",
        directory.resolve("archive").toString(), "--format", "xml", "--output",
        directory.resolve("out.xml").toString()).start();
    try (InputStream said = process.getErrorStream()) {
      while (files().stream().noneMatch(ExportCommandTest::isPart)) {
        assertThat(process.isAlive()).as(() -> text(said)).isTrue();
        Thread.sleep(20);
      }
      new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor();
      assertThat(process.waitFor()).isEqualTo(130);
      assertThat(files()).containsExactly("archive");
    } finally {
      process.destroyForcibly();
    }
  }

  private static boolean isPart(String name) {
    return name.startsWith(".lifeline-export-") && name.endsWith(".tmp");
  }

  private static String text(InputStream stream) {
    try {
      return new String(stream.readAllBytes());
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** The command as a program. */
  static final class Interrupted {
    private Interrupted() {}

    public static void main(String[] arguments) {
      System.exit(new CommandLine(new ExportCommand()).execute(arguments));
    }
  }
}
