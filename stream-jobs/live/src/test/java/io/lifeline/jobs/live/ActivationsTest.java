package io.lifeline.jobs.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.servers.NatsServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("system")
class ActivationsTest {
  private static final Path PROGRAMS = Path.of("../../build/emitter/bin");
  private static final Duration FIVE_MINUTES = Duration.ofMinutes(5);

  @TempDir Path directory;

  @Test
  void whatIsSetIsListedUntilItIsEnded() throws Exception {
    try (NatsServer server = NatsServer.start(directory.resolve("broker"), "--tls", "--auth")) {
      JobConfig config = JobConfig.load(null, Map.of(), Map.of(
          "broker.url", server.url(),
          "broker.tls.ca", server.environment("LIFELINE_TLS_CA"),
          "broker.user", server.environment("LIFELINE_USER"),
          "broker.password.file", server.environment("LIFELINE_PASSWORD_FILE")));
      Activations activations = new Activations(config, Programs.in(PROGRAMS));
      assertThatThrownBy(activations::list).isInstanceOf(ActivationException.class)
          .hasMessageContaining("create it with lifeline-setup");
      setUp(config);
      assertThat(activations.list()).isEmpty();
      Activation set = activations.set("slow", "disk.* sample:10 program=copy", FIVE_MINUTES);
      assertThat(set.state()).isEqualTo("running");
      assertThat(set.remainingMs()).isBetween(200_000L, 300_000L);
      assertThat(set.sample()).isEqualTo(10);
      Activation listed = activations.list().get(0);
      assertThat(listed.line()).isEqualTo(set.line()).startsWith("disk.* sample:10 program=copy for=300s issued=");
      assertThat(listed.program()).isEqualTo("copy");
      assertThatThrownBy(() -> activations.end("other")).hasMessage("there is no activation other; see list");
      activations.end("slow");
      assertThat(activations.list()).isEmpty();
      server.kill();
      assertThatThrownBy(activations::list).isInstanceOfSatisfying(ActivationException.class,
          e -> assertThat(e.isIllegal()).isFalse());
    }
  }

  @Test
  void anIllegalLineIsNotSet() throws Exception {
    Activations activations = new Activations(
        JobConfig.load(null, Map.of(), Map.of("broker.url", "nats://127.0.0.1:1")), Programs.in(PROGRAMS));
    assertThatThrownBy(() -> activations.set(null, "disk.* sampel:10", FIVE_MINUTES))
        .isInstanceOfSatisfying(ActivationException.class, e -> assertThat(e.isIllegal()).isTrue())
        .hasMessageContaining("\"sampel:10\" is not a resolution");
    assertThatThrownBy(() -> activations.check(null, "--all", null)).hasMessageContaining("column");
    assertThatThrownBy(() -> activations.check(null, "x".repeat(900_000), null))
        .isInstanceOfSatisfying(ActivationException.class, e -> assertThat(e.isIllegal()).isTrue())
        .hasMessageContaining("at most 1024 bytes");
    assertThatThrownBy(() -> activations.check(null, "\ud800* full", null))
        .isInstanceOfSatisfying(ActivationException.class, e -> assertThat(e.isIllegal()).isTrue())
        .hasMessageContaining("cannot encode");
    assertThat(activations.check(null, "disk.* full", null).remainingMs()).isPositive();
  }

  @Test
  void withoutTheProgramTheErrorNamesIt() throws Exception {
    JobConfig config = JobConfig.load(null, Map.of(), Map.of("broker.url", "nats://127.0.0.1:1"));
    assertThatThrownBy(() -> new Activations(config, Programs.in(directory)).list())
        .hasMessageContaining("need the program lifeline-activate: it is not in " + directory);
    assertThatThrownBy(() -> new Activations(config, Programs.in(null)).list()).hasMessageContaining("scripts/lifeline-console");
  }

  private static void setUp(JobConfig config) throws Exception {
    ProcessBuilder setup = new ProcessBuilder(PROGRAMS.resolve("lifeline-setup").toString());
    setup.environment().putAll(config.emitterEnvironment());
    setup.redirectErrorStream(true);
    Process process = setup.start();
    String said = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(said).isZero();
  }
}
