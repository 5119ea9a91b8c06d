package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.nats.client.Connection;
import io.nats.client.Message;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JetStreamHostTest {

  @TempDir Path directory;

  @Test
  void summarisesWhatWasPublished() throws Exception {
    try (NatsServer server = NatsServer.start(directory.resolve("broker"));
        Connection connection = server.connect()) {
      server.createStreams(connection);
      Emitter emitter = new Emitter(1);
      emitter.publish(connection.jetStream(), 30, true);
      Metrics metrics = new Metrics();
      try (JetStreamHost host = new JetStreamHost(config(server, "jobs", "summarise"), metrics)) {
        host.start();
        List<String> summaries = read(connection, "lifeline.summaries", 6);
        System.err.println(String.join("\n", summaries));
        System.err.println(metrics.text());
        assertThat(summaries).hasSize(6);
      }
    }
  }

  private static JobConfig config(NatsServer server, String... settings) {
    Map<String, String> map = new HashMap<>(Map.of("broker.url", server.url()));
    for (int i = 0; i < settings.length; i += 2) {
      map.put(settings[i], settings[i + 1]);
    }
    return JobConfig.load(null, Map.of(), map);
  }

  /** The first messages under a subject of the output stream. */
  private static List<String> read(Connection connection, String subject, int count) throws Exception {
    List<String> values = new ArrayList<>();
    var consumer =
        connection
            .getStreamContext("LIFELINE_OUT")
            .createOrderedConsumer(new io.nats.client.api.OrderedConsumerConfiguration().filterSubject(subject))
            .iterate();
    while (values.size() < count) {
      Message message = consumer.nextMessage(Duration.ofSeconds(10));
      if (message == null) {
        break;
      }
      values.add(new String(message.getData(), StandardCharsets.UTF_8));
    }
    return values;
  }
}
