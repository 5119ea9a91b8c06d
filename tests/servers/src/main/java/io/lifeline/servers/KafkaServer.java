package io.lifeline.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;

/** A real Kafka of this test's own, in a process that can be killed. */
public final class KafkaServer extends PrivateBroker {

  private static KafkaServer shared;

  private KafkaServer(Path directory, String... options) {
    super("kafka", directory, options);
  }

  /** The server that all tests of this process share, each with topics of its own; it ends with the process. */
  public static synchronized KafkaServer shared() throws IOException, InterruptedException {
    if (shared == null) {
      shared = start(Files.createTempDirectory("lifeline-kafka-test"));
      Runtime.getRuntime().addShutdownHook(new Thread(shared::remove));
    }
    if (!shared.isRunning()) { // a test that killed it has failed
      shared.start();
    }
    return shared;
  }

  /**
   * Starts a server with its data in the directory; it also ends when this test's process does.
   *
   * @param options of {@code scripts/broker start}
   */
  public static KafkaServer start(Path directory, String... options) throws IOException, InterruptedException {
    KafkaServer server = new KafkaServer(directory, options);
    server.start();
    return server;
  }

  /** Returns the address as Kafka's own clients take it. */
  public String bootstrapServers() {
    return url().replaceAll("^kafka://|/.*$", "");
  }

  public void raisePartitions(String name, int partitions) throws ExecutionException, InterruptedException {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrapServers()))) {
      admin.createPartitions(Map.of(name, NewPartitions.increaseTo(partitions))).all().get();
    }
  }

  public void createTopic(String name, int partitions) throws ExecutionException, InterruptedException {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrapServers()))) {
      admin.createTopics(List.of(new NewTopic(name, partitions, (short) 1))).all().get();
    }
  }
}
