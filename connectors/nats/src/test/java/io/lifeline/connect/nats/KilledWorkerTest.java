package io.lifeline.connect.nats;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.connect.testing.ConnectCluster;
import io.lifeline.connect.testing.PluginFolder;
import io.lifeline.connect.testing.WorkerProcess;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two workers in processes of their own, the plugin in its folder; one is killed while both read. */
@Tag("system")
class KilledWorkerTest {

  /** The plugin and what it brings along, which the workers must not find but in its folder. */
  private static final Pattern PLUGIN =
      Pattern.compile(
          "connectors/(common|nats)/target/|nats-client|lifeline-codec|schemas/java/target|/jnats-|/bcprov-|/jspecify-");

  private static final Map<String, String> WORKER =
      Map.of(
          "exactly.once.source.support", "enabled",
          "session.timeout.ms", "6000",
          "heartbeat.interval.ms", "1000",
          "scheduled.rebalance.max.delay.ms", "0",
          "offset.flush.interval.ms", "1000");

  private static final Duration ENOUGH = Duration.ofSeconds(180);
  private static final int MESSAGES = 20_000;

  @TempDir Path directory;

  @Test
  void everyMessageArrivesOnceAndInOrderThoughAWorkerIsKilled() throws Exception {
    ConnectCluster kafka = ConnectCluster.shared();
    kafka.connect().kafka().createTopic("KILLED", 2);
    PluginFolder.fill(directory.resolve("plugins/lifeline-nats"), PLUGIN);
    NatsServer server = NatsServer.shared();
    try (WorkerProcess one = worker("one", kafka);
        WorkerProcess two = worker("two", kafka);
        Connection connection = server.connect()) {
      Numbers.createStream(connection, "KILLED", "killed.*");
      await(one, "/connector-plugins", plugins -> plugins.contains("JetStreamSource"));
      await(two, "/connector-plugins", plugins -> plugins.contains("JetStreamSource"));
      one.put("/connectors/killed/config", configuration(server));
      String status =
          await(one, "/connectors/killed/status", answer -> taskOn(answer, one) && taskOn(answer, two));
      assertThat(status).as("each worker has a task").contains("\"id\":0").contains("\"id\":1");

      Numbers.publish(connection, "killed.a", 0, MESSAGES / 2);
      Numbers.publish(connection, "killed.b", 0, MESSAGES / 2);
      two.kill();
      Numbers.publish(connection, "killed.a", MESSAGES / 2, MESSAGES);
      Numbers.publish(connection, "killed.b", MESSAGES / 2, MESSAGES);

      List<ConsumerRecord<byte[], byte[]>> records = kafka.read("KILLED", 2 * MESSAGES, ENOUGH);
      List<Integer> all = IntStream.range(0, MESSAGES).boxed().toList();
      assertThat(Numbers.of(records, "killed.a")).as("wrong books: numbers").isEqualTo(all);
      assertThat(Numbers.of(records, "killed.b")).as("wrong books: numbers").isEqualTo(all);
    }
  }

  private WorkerProcess worker(String name, ConnectCluster kafka) throws Exception {
    return WorkerProcess.start(
        directory.resolve(name), directory.resolve("plugins"), PLUGIN, kafka.bootstrapServers(), WORKER);
  }

  private static String configuration(NatsServer server) {
    return """
        {"connector.class": "io.lifeline.connect.nats.JetStreamSource", "tasks.max": "2",
         "nats.url": "%s", "nats.stream": "KILLED", "nats.subjects": "killed.a,killed.b",
         "poll.max.records": "500", "transaction.boundary": "interval", "transaction.boundary.interval.ms": "500"}
        """.formatted(server.url());
  }

  private static boolean taskOn(String status, WorkerProcess worker) {
    String tasks = status.contains("\"tasks\"") ? status.substring(status.indexOf("\"tasks\"")) : "";
    return tasks.contains("\"state\":\"RUNNING\",\"worker_id\":\"" + worker.id() + "\"");
  }

  private static String await(WorkerProcess worker, String path, Predicate<String> condition) throws Exception {
    long deadline = System.nanoTime() + ENOUGH.toNanos();
    String answer = worker.get(path);
    while (!condition.test(answer) && System.nanoTime() < deadline) {
      Thread.sleep(200);
      answer = worker.get(path);
    }
    assertThat(answer).matches(condition, path);
    return answer;
  }
}
