package io.lifeline.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.servers.KafkaServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("system")
class SecuredBrokerTest {

  private static final Duration PATIENCE = Duration.ofSeconds(90);

  @TempDir Path directory;

  /** Clients read passwords and certificates once, when they are made. */
  @Test
  void worksWithTlsAndAPasswordAndGoesOnWithANewPasswordOnceItsFileHoldsIt() throws Exception {
    try (KafkaServer server = KafkaServer.start(directory.resolve("broker"), "--tls", "--auth")) {
      Path brokersOwn = Path.of(server.environment("LIFELINE_PASSWORD_FILE"));
      Path password = Files.copy(brokersOwn, directory.resolve("password"));
      JobConfig config =
          JobConfig.load(
              null,
              Map.of(),
              Map.of(
                  "broker.url", server.url(),
                  "jobs", "summarise,archive",
                  "summarise.fields", "*:nbytes",
                  "checkpoint.interval", "100ms",
                  "archive.dir", directory.resolve("archive").toString(),
                  "archive.roll.interval", "100ms",
                  "broker.tls.ca", server.environment("LIFELINE_TLS_CA"),
                  "broker.user", server.environment("LIFELINE_USER"),
                  "broker.password.file", password.toString()));
      KafkaSettings settings = new KafkaSettings(config);
      try (Admin admin = Admin.create(settings.admin())) {
        admin.createTopics(
            Stream.of("batches", "summaries", "rejected").map(name -> new NewTopic("lifeline." + name, 1, (short) 1))
                .toList()).all().get();
      }
      Metrics metrics = new Metrics();
      try (KafkaHost host = new KafkaHost(config, metrics)) {
        host.start();
        send(settings, 1);
        awaitBatches(metrics, 1);
        awaitCommit(settings, 1); // or the first batch counts again after the kill
        String former = Files.readString(password).strip();
        server.kill();
        Files.writeString(brokersOwn, "rotated\n");
        server.start();
        await("health", host::health, parts -> parts.get("archive").contains("Invalid username or password"));
        assertThat(host.health().toString()).doesNotContain(former);
        Files.writeString(password, "rotated\n");
        send(settings, 2);
        awaitBatches(metrics, 2);
        await("health", host::health, Map.of("archive", "running", "summarise", "running")::equals);
        assertThat(host.failure().toCompletableFuture()).isNotDone();
      }
    }
  }

  private static void send(KafkaSettings settings, int sequence) throws Exception {
    try (KafkaProducer<String, byte[]> producer = new KafkaProducer<>(settings.producer("test"))) {
      byte[] batch = Batches.reads(1, sequence, false, 1000 + sequence, 1);
      producer.send(new ProducerRecord<>("lifeline.batches", Batches.key(1), batch)).get();
    }
  }

  private static void awaitBatches(Metrics metrics, int count) throws Exception {
    for (String task : List.of("archive", "summarise-0")) {
      await(task, metrics::text, text -> text.contains("lifeline_batches_total{task=\"" + task + "\"} " + count + "\n"));
    }
  }

  private static void awaitCommit(KafkaSettings settings, long end) throws Exception {
    try (Admin admin = Admin.create(settings.admin())) {
      await("the commit", () -> admin.listConsumerGroupOffsets("lifeline-jobs").partitionsToOffsetAndMetadata().get()
          .get(new TopicPartition("lifeline.batches", 0)), offset -> offset != null && offset.offset() == end);
    }
  }

  private static <T> void await(String what, Callable<T> current, Predicate<T> wanted) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!wanted.test(current.call())) {
      assertThat(System.nanoTime()).as("%s: %s", what, current.call()).isLessThan(deadline);
      Thread.sleep(100);
    }
  }
}
