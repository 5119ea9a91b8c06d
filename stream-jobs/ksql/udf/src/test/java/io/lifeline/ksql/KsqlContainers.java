package io.lifeline.ksql;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.utility.MountableFile;

/** Kafka and ksqlDB in containers, with our jar as an extension of ksqlDB. */
final class KsqlContainers implements AutoCloseable {

  static final String KSQLDB = "confluentinc/cp-ksqldb-server:8.2.3";
  static final String KAFKA = "apache/kafka:4.3.1";

  private static final int PORT = 8088;
  private static final String KAFKA_WITHIN = "kafka:19092";

  /** Labels by which {@code scripts/test-containers} finds containers that a killed run left. */
  private static final Map<String, String> LABELS =
      Map.of("io.lifeline.test", System.getenv().getOrDefault("LIFELINE_TEST_OWNER", "nobody-0-0"));

  private final Network network = Network.newNetwork();
  private final KafkaContainer kafka =
      new KafkaContainer(KAFKA).withNetwork(network).withLabels(LABELS).withListener(KAFKA_WITHIN);
  private final GenericContainer<?> ksqldb;

  KsqlContainers(Path jar) {
    ksqldb =
        new GenericContainer<>(KSQLDB)
            .withNetwork(network)
            .withLabels(LABELS)
            .withExposedPorts(PORT)
            .withCopyFileToContainer(MountableFile.forHostPath(jar), "/opt/lifeline/lifeline-ksql.jar")
            .withEnv("KSQL_BOOTSTRAP_SERVERS", KAFKA_WITHIN)
            .withEnv("KSQL_LISTENERS", "http://0.0.0.0:" + PORT)
            .withEnv("KSQL_KSQL_EXTENSION_DIR", "/opt/lifeline")
            .withEnv(Migrations.serverVariables())
            .waitingFor(Wait.forHttp("/info").forPort(PORT).withStartupTimeout(Duration.ofMinutes(3)));
    kafka.start();
    ksqldb.start();
  }

  URI ksqldb() {
    return URI.create("http://" + ksqldb.getHost() + ":" + ksqldb.getMappedPort(PORT));
  }

  String bootstrapServers() {
    return kafka.getBootstrapServers();
  }

  @Override
  public void close() {
    ksqldb.stop();
    kafka.stop();
    network.close();
  }
}
