package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.ConfigException;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.nats.ConnectionLog;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.Nats;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("system")
class SecuredBrokerTest {

  @TempDir Path directory;

  @Test
  void worksWithTlsAndAPasswordAndSaysClearlyWhatIsWrongWithoutThem() throws Exception {
    try (NatsServer server = NatsServer.start(directory.resolve("broker"), "--tls", "--auth")) {
      Map<String, String> settings =
          Map.of(
              "broker.url", server.url(),
              "jobs", "summarise",
              "summarise.fields", "*:nbytes",
              "broker.tls.ca", server.environment("LIFELINE_TLS_CA"),
              "broker.user", server.environment("LIFELINE_USER"),
              "broker.password.file", server.environment("LIFELINE_PASSWORD_FILE"));
      NatsSettings nats = new NatsSettings(JobConfig.load(null, Map.of(), settings));
      try (Connection connection = Nats.connect(nats.options(new ConnectionLog()))) {
        server.createStreams(connection);
        new Emitter(1).publish(connection.jetStream(), 20, true);
        try (JetStreamHost host = host(settings)) {
          host.start();
          Map<String, JsonNode> summaries =
              OutputReader.await(connection, "lifeline.summaries", map -> JetStreamHostTest.totalCount(map) == 200);
          assertThat(JetStreamHostTest.totalCount(summaries)).isEqualTo(200);
        }
      }
      Path wrong = Files.writeString(directory.resolve("wrong"), "n0t-the-passw0rd");
      assertThatThrownBy(() -> host(with(settings, "broker.password.file", wrong.toString())).start())
          .isInstanceOf(HostException.class)
          .hasMessageContaining("Authorization Violation")
          .hasMessageNotContaining("n0t-the-passw0rd");
      assertThatThrownBy(() -> host(with(settings, "broker.tls.ca", wrong.toString())).start())
          .isInstanceOf(ConfigException.class)
          .hasMessage("broker.tls: " + wrong + " holds no certificate in PEM form");
      assertThatThrownBy(() -> host(with(settings, "broker.tls.ca", "")).start())
          .as("without the authority the server's certificate is not trusted")
          .isInstanceOf(HostException.class)
          .hasMessageStartingWith("cannot connect to nats://");
    }
  }

  /** The client itself gives up after the second refusal, and knows only the password that it began with. */
  @Test
  void goesOnWithANewPasswordOnceItsFileHoldsIt() throws Exception {
    Path broker = directory.resolve("rotating");
    try (NatsServer server = NatsServer.start(broker, "--auth")) {
      Path password = Path.of(server.environment("LIFELINE_PASSWORD_FILE"));
      Map<String, String> settings =
          Map.of(
              "broker.url", server.url(),
              "jobs", "summarise,archive",
              "summarise.fields", "*:nbytes",
              "archive.dir", directory.resolve("archive").toString(),
              "broker.user", server.environment("LIFELINE_USER"),
              "broker.password.file", password.toString());
      NatsSettings nats = new NatsSettings(JobConfig.load(null, Map.of(), settings));
      Emitter emitter = new Emitter(1);
      try (Connection connection = Nats.connect(nats.options(new ConnectionLog()))) {
        server.createStreams(connection);
        emitter.publish(connection.jetStream(), 10, false);
      }
      try (JetStreamHost host = host(settings)) {
        host.start();
        await(host, "running");
        Path configuration = broker.resolve("nats.conf");
        String former = Files.readString(password).strip();
        Files.writeString(configuration, Files.readString(configuration).replace(former, "rotated"));
        ProcessHandle reload = new ProcessBuilder("kill", "-HUP", server.environment("LIFELINE_BROKER_PID")).start()
            .toHandle();
        reload.onExit().join();
        await(host, "retrying: cannot connect to ");
        assertThat(host.health().toString()).doesNotContain(former);
        Files.writeString(password, "rotated\n");
        await(host, "running");
        try (Connection connection = Nats.connect(nats.options(new ConnectionLog()))) {
          emitter.publish(connection.jetStream(), 10, true);
          Map<String, JsonNode> summaries =
              OutputReader.await(connection, "lifeline.summaries", map -> JetStreamHostTest.totalCount(map) == 200);
          assertThat(JetStreamHostTest.totalCount(summaries)).as("wrong books").isEqualTo(200);
        }
      }
    }
  }

  private static void await(JetStreamHost host, String status) throws InterruptedException {
    long deadline = System.nanoTime() + OutputReader.PATIENCE.toNanos();
    while (!host.health().values().stream().allMatch(each -> each.startsWith(status)) && System.nanoTime() < deadline) {
      Thread.sleep(20);
    }
    assertThat(host.health().values()).allMatch(each -> each.startsWith(status));
  }

  private static Map<String, String> with(Map<String, String> settings, String key, String value) {
    Map<String, String> changed = new HashMap<>(settings);
    changed.put(key, value);
    return changed;
  }

  private static JetStreamHost host(Map<String, String> settings) {
    return new JetStreamHost(JobConfig.load(null, Map.of(), settings), new Metrics());
  }
}
