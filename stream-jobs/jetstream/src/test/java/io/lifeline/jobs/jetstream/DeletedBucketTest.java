package io.lifeline.jobs.jetstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.servers.NatsServer;
import io.nats.client.Connection;
import io.nats.client.api.KeyValueConfiguration;
import io.nats.client.api.StorageType;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Someone deletes the bucket with the checkpoints while the jobs run. */
@Tag("system")
class DeletedBucketTest {

  @Test
  void isNamedAndTheJobsContinueWhenItIsThereAgain() throws Exception {
    NatsServer server = NatsServer.shared();
    try (Connection connection = server.connect()) {
      server.createStreams(connection);
      Metrics metrics = new Metrics();
      try (JetStreamHost host = new JetStreamHost(JobConfig.load(null, Map.of(), Map.of("broker.url", server.url(),
          "jobs", "ledger", "checkpoint.interval", "100ms")), metrics)) {
        host.start();
        new Emitter(1).publish(connection.jetStream(), 5, true);
        await(() -> metrics.text().contains("lifeline_next_position{task=\"ledger\"} 6"));
        connection.keyValueManagement().delete("lifeline-jobs");
        new Emitter(2).publish(connection.jetStream(), 5, true);
        await(() -> host.health().get("ledger")
            .equals("retrying: the key-value bucket lifeline-jobs does not exist; create it with lifeline-setup"));
        connection.keyValueManagement()
            .create(KeyValueConfiguration.builder().name("lifeline-jobs").storageType(StorageType.File).build());
        await(() -> host.health().get("ledger").equals("running")
            && metrics.text().contains("lifeline_next_position{task=\"ledger\"} 11"));
      }
    }
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + OutputReader.PATIENCE.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
      Thread.sleep(20);
    }
  }
}
