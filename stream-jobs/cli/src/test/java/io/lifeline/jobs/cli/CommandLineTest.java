package io.lifeline.jobs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.core.config.ConfigKey;
import io.lifeline.jobs.core.config.Keys;
import java.io.FileOutputStream;
import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.util.Properties;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class CommandLineTest {

  private record Result(int exitCode, String out, String err) {}

  @Test
  void explainsEveryCommand() {
    for (String name : Main.commandLine().getSubcommands().keySet()) {
      Result result = execute(name.equals("help") ? new String[] {"help"} : new String[] {name, "--help"});
      assertThat(result.exitCode()).as(name).isZero();
      assertThat(result.out()).as(name).contains("Usage: lifeline-jobs");
    }
  }

  @Test
  void documentsEverySettingAsAPropertiesFile() throws IOException {
    Result result = execute("config", "--keys");
    Properties properties = new Properties();
    properties.load(new StringReader(result.out()));
    for (ConfigKey<?> key : Keys.all()) {
      assertThat(properties.getProperty(key.name())).isEqualTo(key.defaultText());
      assertThat(result.out()).contains("# " + key.description(), "# Environment: " + key.environmentVariable());
    }
  }

  @Test
  void printsTheEffectiveSettingsWithSecretsMasked() throws IOException {
    Result result = execute("config", "-s", "broker.url=nats://u:s3cr3t@h:1/", "-s", "kafka.ssl.key.password=s3cr3t");
    Properties properties = new Properties();
    properties.load(new StringReader(result.out()));
    assertThat(properties)
        .containsEntry("broker.url", "nats://****@h:1/")
        .containsEntry("kafka.ssl.key.password", "****")
        .containsEntry("summarise.window", "10s");
    assertThat(result.out()).contains("# from the command line\nbroker.url=").doesNotContain("s3cr3t");
  }

  @Test
  void endsWithTwoAndOneSentenceOnABadSetting() {
    Result result = execute("run", "-s", "broker.url=nats://h", "-s", "summarise.window=soon");
    assertThat(result).isEqualTo(
        new Result(2, "",
            "lifeline-jobs: summarise.window=soon: expected a number with ms, s, m, h or d, above 0\n"));
  }

  @Test
  void answersAWrongCommandLineWithOneSentence() {
    String which =
        "lifeline-jobs: which command? run, ledger, alerts, tail, emitters, activations, switch, sql, report, export,"
            + " import, compact, verify, files, resume, config, help (try --help)\n";
    assertThat(execute()).isEqualTo(new Result(2, "", which));
    assertThat(execute("start")).isEqualTo(new Result(2, "", which));
    assertThat(execute("--fast").err()).isEqualTo("lifeline-jobs: Unknown option: '--fast' (try --help)\n");
    assertThat(execute("sql", "--archive", "archive").err())
        .isEqualTo("lifeline-jobs sql: Missing required parameter: 'SQL' (try --help)\n");
    assertThat(execute("sql", "--archve", "archive").err())
        .isEqualTo("lifeline-jobs sql: Unknown option: '--archve' (try --help)\n");
    assertThat(execute("compact", "--archive", "archive", "--target-mib", "0").exitCode()).isEqualTo(2);
  }

  @Test
  void failsIfTheOutputCannotBeWritten() throws IOException {
    StringWriter err = new StringWriter();
    try (PrintWriter full = new PrintWriter(new FileWriter("/dev/full"))) {
      for (String[] arguments : new String[][] {{"config", "--keys"}, {"sql", "--help"}}) {
        CommandLine command = Main.commandLine().setOut(full).setErr(new PrintWriter(err, true));
        assertThat(command.execute(arguments)).as(arguments[0]).isOne();
      }
    }
    assertThat(err.toString()).startsWith("lifeline-jobs: cannot write the output: the disk is full");
  }

  /** As in a process: nobody has set a writer. */
  @Test
  void failsIfStandardOutputCannotBeWritten() throws IOException {
    StringWriter err = new StringWriter();
    PrintStream before = System.out;
    try (PrintStream full = new PrintStream(new FileOutputStream("/dev/full"))) {
      System.setOut(full);
      assertThat(Main.commandLine().setErr(new PrintWriter(err, true)).execute("config", "--keys")).isOne();
    } finally {
      System.setOut(before);
    }
    assertThat(err.toString()).startsWith("lifeline-jobs: cannot write the output: the disk is full");
  }

  @Test
  void saysThatABrokerIsNeeded() {
    Result result = execute("run");
    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.err())
        .startsWith(
            "lifeline-jobs: broker.url is not set: Broker with the batches, to which results are written as well. "
                + "Expected nats://");
  }

  @Tag("system") // it takes the 30 seconds that a broker has to start
  @Test
  void endsWithOneWhenTheBrokerCannotBeReached() {
    Result result = execute("ledger", "-s", "broker.url=nats://u:s3cr3t@127.0.0.1:1");
    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err())
        .startsWith("lifeline-jobs: cannot connect to nats://127.0.0.1:1/lifeline.batches: ")
        .doesNotContain("s3cr3t");
  }

  private static Result execute(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine command = Main.commandLine().setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    return new Result(command.execute(arguments), out.toString(), err.toString());
  }
}
