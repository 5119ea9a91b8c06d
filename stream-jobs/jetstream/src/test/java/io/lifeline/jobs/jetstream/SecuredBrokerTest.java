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

  private static Map<String, String> with(Map<String, String> settings, String key, String value) {
    Map<String, String> changed = new HashMap<>(settings);
    changed.put(key, value);
    return changed;
  }

  private static JetStreamHost host(Map<String, String> settings) {
    return new JetStreamHost(JobConfig.load(null, Map.of(), settings), new Metrics());
  }
}
