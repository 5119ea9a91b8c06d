package io.lifeline.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.kafka.KafkaContainer;

/** The way of events on either broker, on each release of Java that we support. All of it happens in containers. */
class BrokersTest {

  private static final int EVENTS = 100_000;
  private static final Network NETWORK = Network.newNetwork();
  private static final KafkaContainer KAFKA =
      new KafkaContainer(Images.of("apache/kafka"))
          .withNetwork(NETWORK)
          .withLabels(Images.LABELS)
          .withListener("kafka:19092")
          .withEnv("KAFKA_HEAP_OPTS", "-Xms512m -Xmx512m")
          .withEnv("KAFKA_AUTO_CREATE_TOPICS_ENABLE", "false");

  @BeforeAll
  static void start() {
    KAFKA.start();
  }

  @AfterAll
  static void stop() {
    KAFKA.stop();
    NETWORK.close();
  }

  @ParameterizedTest(name = "Java {0}")
  @ValueSource(ints = {17, 21, 25})
  void archivesOnceWhatIsEmittedToNats(int java) throws IOException, InterruptedException {
    try (GenericContainer<?> nats =
        new GenericContainer<>(Images.of("nats"))
            .withNetwork(NETWORK)
            .withLabels(Images.LABELS)
            .withNetworkAliases("nats")
            .withCommand("-js")
            .waitingFor(Wait.forLogMessage(".*Server is ready.*", 1))) {
      nats.start();
      try (Flow flow = Flow.start(NETWORK, "nats://nats:4222", Images.jobs(java), Map.of())) {
        assertArchived(flow, java);
      }
    }
  }

  @ParameterizedTest(name = "Java {0}")
  @ValueSource(ints = {17, 21, 25})
  void archivesOnceWhatIsEmittedToKafka(int java) throws IOException, InterruptedException {
    // One broker for all of them; each has its own position there, and reads what was for the others as well.
    try (Flow flow =
        Flow.start(
            NETWORK, "kafka://kafka:19092", Images.jobs(java), Map.of("LIFELINE_JOBS_KAFKA_APPLICATION_ID", "jobs" + java))) {
      assertArchived(flow, java);
    }
  }

  private static void assertArchived(Flow flow, int java) throws IOException, InterruptedException {
    assertThat(flow.inJobs("java", "--version")).contains(" " + java + ".");
    long emitted = flow.emit(java, EVENTS);
    Serials.assertArchivedOnce(flow::sql, java, emitted);
  }
}
