package io.lifeline.ksql;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.utility.MountableFile;

/** Kafka and ksqlDB in containers, with our jar among ksqlDB's extensions. */
final class KsqlContainers implements AutoCloseable {

  static final String KSQLDB = "confluentinc/cp-ksqldb-server:8.2.3";
  static final String KAFKA = "apache/kafka:4.3.1";

  private static final int PORT = 8088;
  private static final String KAFKA_WITHIN = "kafka:19092";
  private static final long PULL_S = 300;

  private final Network network = Network.newNetwork();
  private final KafkaContainer kafka = new KafkaContainer(KAFKA).withNetwork(network).withListener(KAFKA_WITHIN);
  private final GenericContainer<?> ksqldb;

  KsqlContainers(Path jar) {
    ksqldb =
        new GenericContainer<>(KSQLDB)
            .withNetwork(network)
            .withExposedPorts(PORT)
            .withCopyFileToContainer(MountableFile.forHostPath(jar), "/opt/lifeline/lifeline-ksql.jar")
            .withEnv("KSQL_BOOTSTRAP_SERVERS", KAFKA_WITHIN)
            .withEnv("KSQL_LISTENERS", "http://0.0.0.0:" + PORT)
            .withEnv("KSQL_KSQL_EXTENSION_DIR", "/opt/lifeline")
            .withEnv("KSQL_KSQL_STREAMS_NUM_STREAM_THREADS", "1")
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

  /** Null if both images are here or have just been pulled, else why the containers cannot be had. */
  static String obstacle() {
    if (!docker("version")) {
      return "no container engine answers";
    }
    for (String image : new String[] {KSQLDB, KAFKA}) {
      if (!docker("image", "inspect", image) && !docker("pull", "--quiet", image)) {
        return image + " is not here, and no registry gives it";
      }
    }
    return null;
  }

  /** Whether the command did what it should. Testcontainers itself would ask a registry for two minutes. */
  private static boolean docker(String... arguments) {
    ProcessBuilder command = new ProcessBuilder("docker");
    command.command().addAll(List.of(arguments));
    command.redirectErrorStream(true).redirectOutput(new File("/dev/null"));
    try {
      Process process = command.start();
      if (process.waitFor(PULL_S, TimeUnit.SECONDS)) {
        return process.exitValue() == 0;
      }
      process.destroy();
      return false;
    } catch (IOException e) {
      return false; // there is no such command
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
