package io.lifeline.jobs.cli.tail;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.servers.NatsServer;
import io.lifeline.servers.PrivateBroker;
import io.nats.client.Connection;
import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("system")
class TailOnNatsTest extends TailOnBroker {
  private NatsServer server;

  @BeforeEach
  void startServer() throws Exception {
    server = NatsServer.shared();
    try (Connection connection = server.connect()) {
      server.createStreams(connection);
    }
  }

  @AfterEach
  void endAll() {
    endStarted();
  }

  @Override
  PrivateBroker broker() {
    return server;
  }

  @Override
  String url() {
    return server.url();
  }

  @Override
  void publish(int emitter, byte[] batch) throws Exception {
    try (Connection connection = server.connect()) {
      connection.jetStream().publish("lifeline.batches." + emitter, batch);
    }
  }

  @Test
  void namesAMissingStream() throws Exception {
    try (Connection connection = server.connect()) {
      connection.jetStreamManagement().deleteStream("LIFELINE");
    }
    assertThat(tail().errorReader().readLine())
        .isEqualTo("the stream LIFELINE does not exist; create it with lifeline-setup (waiting)");
  }

  /** By each of them alone. What is selected does not depend on the broker: on Kafka one command has all options. */
  @Test
  @Override
  void selectsByTypeProgramHostAndCondition() throws Exception {
    publishReads("copy");
    publishReads("move");
    publishFailed("copy");
    assertThat(lines("--from", "0", "--count", "10", "--program", "mo*")).hasSize(10)
        .allSatisfy(line -> assertThat(line).contains(" move "));
    assertThat(lines("--from", "0", "--count", "1", "--type", "nothing", "--type", "*.failed")).singleElement()
        .asString().contains("copy.failed       error ").endsWith(" id=1000");
    assertThat(lines("--from", "0", "--count", "5", "--where", "nbytes >= 500 && program == 'copy'"))
        .extracting(line -> line.replaceAll(".* id=", "")).containsExactly("5 nbytes=500", "6 nbytes=600",
            "7 nbytes=700", "8 nbytes=800", "9 nbytes=900");
    assertThat(lines("--from", "0", "--count", "1", "--host", "*-a", "--where", "level == 'error'")).singleElement()
        .asString().contains("copy.failed");
  }

  /** The terminal takes a little at a time until events were skipped, then everything. */
  @Test
  void aTerminalGetsColoursAndIsToldWhatItDidNotGet() throws Exception {
    int batches = 5_000;
    try (Connection connection = server.connect()) {
      for (int i = 0; i < batches; i++) {
        connection.publish("lifeline.batches.1", reads("copy"));
      }
      connection.jetStream().publish("lifeline.batches.1", reads("copy")); // answered when all are stored
    }
    Path err = directory.resolve("err");
    String command = words("--from", "0").stream().map(word -> "'" + word + "'").collect(Collectors.joining(" "));
    ProcessBuilder builder =
        new ProcessBuilder("script", "-qfec", "exec " + command + " 2>'" + err + "'", "/dev/null");
    builder.environment().put("TERM", "xterm");
    Process script = start(builder);
    BufferedReader out = script.inputReader();
    long lines = 0;
    while (!Files.exists(err) || !Files.readString(err).contains("skipped ")) {
      assertThat(out.readLine()).startsWith("\033[2m").contains("\033[m\033[36mdisk.read.end");
      lines++;
      Thread.sleep(1);
    }
    script.descendants().forEach(ProcessHandle::destroy);
    lines += out.lines().count();
    script.waitFor();
    String summary = Files.readAllLines(err).stream().filter(line -> line.startsWith("events=")).findFirst().get();
    assertThat(summary).startsWith("events=" + lines + " skipped=");
  }
}
