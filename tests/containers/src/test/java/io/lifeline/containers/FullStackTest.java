package io.lifeline.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** compose/full.yaml as it is shipped, with the one command that sends events through all of it. */
@Tag("system")
@Execution(ExecutionMode.SAME_THREAD)
class FullStackTest {

  private static final Pattern PLUGIN = Pattern.compile("\"class\":\"(io\\.lifeline\\.[^\"]*)\",[^}]*\"version\":\"([^\"]*)\"");

  private static Stack stack;

  @BeforeAll
  static void start() {
    stack = Stack.up("full.yaml", Stack.addition("full-quick-start.yaml"));
  }

  @AfterAll
  static void stop() {
    stack.close();
  }

  @Test
  void readsBackBySqlWhatWasSentAlsoAfterConnectWasKilled() {
    assertThat(stack.script("try", "--events", "500")).contains("500");
    stack.kill("connect");
    stack.startAgain("connect");
    assertThat(stack.script("try", "--events", "700")).contains("700");
  }

  @Test
  void offersEveryPluginWithItsVersion() {
    String plugins = stack.exec("tools", "curl", "--silent", "--fail", "http://connect:8083/connector-plugins?connectorsOnly=false");
    List<String> ours = PLUGIN.matcher(plugins).results().map(match -> match.group(1) + " " + match.group(2)).sorted().toList();
    assertThat(ours)
        .containsExactly(
            "io.lifeline.connect.archive.ArchiveSink 0.1.0-SNAPSHOT",
            "io.lifeline.connect.batch.BatchConverter 0.1.0-SNAPSHOT",
            "io.lifeline.connect.nats.JetStreamSource 0.1.0-SNAPSHOT",
            "io.lifeline.connect.nats.NatsSink 0.1.0-SNAPSHOT");
  }

  @Test
  void showsNoPasswordByConnectsInterface() {
    String password = stack.exec("tools", "cat", "/run/secrets/nats/emitter");
    String lifeline = stack.exec("nats", "cat", "/run/secrets/nats/lifeline");
    String configuration = stack.exec("tools", "curl", "--silent", "--fail", "http://connect:8083/connectors?expand=info");
    assertThat(configuration).contains("lifeline-from-nats").doesNotContain(password, lifeline);
    assertThat(stack.compose("logs", "--no-color")).doesNotContain(password, lifeline);
  }
}
