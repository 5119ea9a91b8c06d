package io.lifeline.jobs.cli.directory;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.jobs.live.Programs;
import io.lifeline.servers.KafkaServer;
import io.lifeline.servers.NatsServer;
import io.lifeline.servers.PrivateBroker;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The commands on real brokers, of which a real program emits. */
@Tag("system")
class DirectoryCommandsTest {
  private static final Path FOLDER = Path.of("../../build/emitter/bin");
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(90);
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path directory;

  @BeforeAll
  static void findPrograms() {
    System.setProperty(Programs.PROPERTY, FOLDER.toString());
  }

  @Test
  void onNats() throws Exception {
    try (NatsServer server = NatsServer.start(directory.resolve("broker"))) {
      show(server);
    }
  }

  @Test
  void onKafka() throws Exception {
    show(KafkaServer.shared());
  }

  @Test
  void aBrokerThatIsAwayIsAnError() {
    StringWriter err = new StringWriter();
    CommandLine command = new CommandLine(new EmittersCommand()).setErr(new PrintWriter(err));
    command.setExecutionExceptionHandler((e, line, parsed) -> {
      line.getErr().print(e.getMessage());
      return 1;
    });
    assertThat(command.execute("--broker", "nats://127.0.0.1:1")).isEqualTo(1);
    assertThat(err).hasToString("cannot connect to nats://127.0.0.1:1/lifeline.batches: is the broker running?");
    assertThat(command.execute("--broker", "nats://127.0.0.1:1", "--history", "soon")).isEqualTo(2);
  }

  private void show(PrivateBroker broker) throws Exception {
    await(start(broker, "lifeline-setup"));
    await(start(broker, "lifeline-activate", "set", "--id", "follow", "example.packet full"));
    await(start(broker, "lifeline-activate", "set", "--id", "refuse", "example.packet full route=nowhere program=life*"));
    await(start(broker, "lifeline-activate", "set", "--id", "others", "example.packet off program=other"));
    Process emitter = start(broker, "lifeline-activation", "3600");
    try {
      JsonNode row = until(() -> run(new EmittersCommand(), broker),
          rows -> rows.size() == 1 && rows.get(0).path("follows").has("follow")).get(0);
      assertThat(row.path("pid").asLong()).isEqualTo(emitter.pid());
      assertThat(row.path("program").asText()).isEqualTo("lifeline-activation");
      assertThat(row.path("state").asText()).isEqualTo("running");
      assertThat(row.path("emitted").asLong()).isPositive();
      assertThat(row.path("clock_ms").asLong()).isBetween(-1000L, 60_000L);
      List<JsonNode> activations = until(() -> run(new ActivationsCommand(), broker),
          rows -> rows.stream().anyMatch(one -> one.path("refusing").size() == 1));
      assertThat(activations).extracting(one -> one.path("id").asText()).containsExactly("follow", "others", "refuse");
      assertThat(activations).extracting(one -> one.path("following").size()).containsExactly(1, 0, 0);
      assertThat(activations).extracting(one -> one.path("silent").size()).containsExactly(0, 0, 0);
      assertThat(activations.get(2).path("refusing").get(0).path("reason").asText()).contains("nowhere");
      String line = "example.packet full program=life*";
      StringWriter said = new StringWriter();
      CommandLine command = new CommandLine(new SwitchCommand()).setOut(new PrintWriter(said))
          .setErr(new PrintWriter(said));
      assertThat(command.execute("--broker", broker.url(), "--id", "more", "unknown.* full")).isEqualTo(1);
      assertThat(said.toString()).contains("is not known", "not set: confirm it with --yes");
      assertThat(command.execute("--broker", broker.url(), "--id", "more", "--for", "5m", line)).isZero();
      assertThat(said.toString()).contains("example.packet full: at most about ", " events/s from 1 emitter, ",
          "more  " + line + " for=300s issued=");
      assertThat(command.execute("--broker", broker.url(), "--id", "more", "--yes", "unknown.* full")).isZero();
      assertThat(command.execute("--broker", broker.url(), "disk.* sampel:10")).isEqualTo(2);
    } finally {
      emitter.destroy();
      emitter.waitFor();
    }
  }

  private static List<JsonNode> run(Object command, PrivateBroker broker) throws Exception {
    StringWriter out = new StringWriter();
    int status = new CommandLine(command).setOut(new PrintWriter(out)).execute("--broker", broker.url(), "--json");
    assertThat(status).isZero();
    List<JsonNode> rows = new ArrayList<>();
    for (String line : out.toString().lines().toList()) {
      rows.add(JSON.readTree(line));
    }
    return rows;
  }

  private static List<JsonNode> until(Callable<List<JsonNode>> ask, Predicate<List<JsonNode>> wanted)
      throws Exception {
    long end = System.nanoTime() + PATIENCE_NS;
    while (true) {
      List<JsonNode> rows = ask.call();
      if (wanted.test(rows)) {
        return rows;
      }
      assertThat(System.nanoTime()).as("it stays %s", rows).isLessThan(end);
    }
  }

  private Process start(PrivateBroker broker, String program, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(FOLDER.resolve(program).toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().keySet().removeIf(name -> name.startsWith("LIFELINE"));
    builder.environment().put("LIFELINE_URL", broker.url());
    builder.environment().put("LIFELINE_RING_DIR", directory.resolve("rings").toString());
    builder.redirectErrorStream(true).redirectOutput(directory.resolve(program + ".log").toFile());
    return builder.start();
  }

  private static void await(Process process) throws Exception {
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isZero();
  }
}
