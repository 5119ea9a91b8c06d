package io.lifeline.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.lifecycle.Startables;

/**
 * The way of events on either broker, and on each release of Java that we support. All of it happens in containers.
 */
@Tag("system")
class BrokersTest {

  private static final int EVENTS = 100_000;
  private static final long EMITTERS_MEMORY = 256L << 20;

  private static final Network NETWORK =
      Network.builder().createNetworkCmdModifier(command -> command.withLabels(Images.LABELS)).build();
  private static final KafkaContainer KAFKA =
      new KafkaContainer(Images.of("apache/kafka"))
          .withNetwork(NETWORK)
          .withLabels(Images.LABELS)
          .withListener("kafka:19092")
          .withEnv(Images.QUICK_START)
          .withEnv("KAFKA_HEAP_OPTS", "-Xms512m -Xmx512m")
          .withEnv("KAFKA_AUTO_CREATE_TOPICS_ENABLE", "false")
          .withStartupTimeout(Images.TIMEOUT);
  private static final GenericContainer<?> TOOLS =
      new GenericContainer<>(Images.tools())
          .withNetwork(NETWORK)
          .withLabels(Images.LABELS)
          .withSharedMemorySize(EMITTERS_MEMORY)
          .withCommand("sleep", "infinity")
          .withStartupTimeout(Images.TIMEOUT)
          .withCreateContainerCmdModifier(command -> command.getHostConfig().withInit(true));

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    Startables.deepStart(KAFKA, TOOLS).join();
    Flow.setUp(TOOLS, "kafka://kafka:19092");
  }

  @AfterAll
  static void stop() {
    TOOLS.stop();
    KAFKA.stop();
    NETWORK.close();
  }

  @Test
  void archivesOnceOnJava17WhatIsEmittedToNats() throws IOException, InterruptedException {
    archivesOnceWhatIsEmittedToNats(17);
  }

  @Test
  void archivesOnceOnJava21WhatIsEmittedToNats() throws IOException, InterruptedException {
    archivesOnceWhatIsEmittedToNats(21);
  }

  @Test
  void archivesOnceOnJava25WhatIsEmittedToKafka() throws IOException, InterruptedException {
    assertArchived(25, "kafka://kafka:19092");
  }

  /** Each release has a server of its own, which starts at once. */
  private static void archivesOnceWhatIsEmittedToNats(int java) throws IOException, InterruptedException {
    String name = "nats-" + java;
    try (GenericContainer<?> nats =
        new GenericContainer<>(Images.of("nats"))
            .withNetwork(NETWORK)
            .withLabels(Images.LABELS)
            .withNetworkAliases(name)
            .withCommand("-js")
            .waitingFor(Wait.forLogMessage(".*Server is ready.*", 1).withStartupTimeout(Images.TIMEOUT))) {
      nats.start();
      String url = "nats://" + name + ":4222";
      Flow.setUp(TOOLS, url);
      assertArchived(java, url);
    }
  }

  private static void assertArchived(int java, String url) throws IOException, InterruptedException {
    try (Flow flow = Flow.start(NETWORK, TOOLS, url, Images.jobs(java), Images.QUICK_START)) {
      assertThat(flow.inJobs("java", "--version")).contains(" " + java + ".");
      long emitted = flow.emit(java, EVENTS);
      Serials.assertArchivedOnce(flow::inJobs, java, emitted);
    }
  }
}
