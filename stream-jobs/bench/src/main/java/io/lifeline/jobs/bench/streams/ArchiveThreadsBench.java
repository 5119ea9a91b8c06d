package io.lifeline.jobs.bench.streams;

import io.lifeline.jobs.bench.Backlog;
import io.lifeline.jobs.bench.Bench;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.kafka.KafkaHost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Archives a backlog on Kafka as Parquet files, with so many threads. */
@Command(name = "archive-threads-bench", mixinStandardHelpOptions = true, description = "Archives a backlog on Kafka.")
public final class ArchiveThreadsBench extends Bench {

  @Option(names = "--name", required = true, description = "of the row")
  private String name;

  @Option(names = "--threads", required = true, description = "archive.threads")
  private int threads;

  @Option(names = "--topic", required = true, description = "topic for the backlog, which is made")
  private String topic;

  @Option(names = "--partitions", required = true, description = "of the topic")
  private int partitions;

  @Option(names = "--broker", required = true, description = "HOST:PORT of the broker")
  private String broker;

  @Option(names = "--dir", required = true, description = "where archives are written and removed again")
  private Path parent;

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new ArchiveThreadsBench()).execute(arguments));
  }

  @Override
  protected String rowName() {
    return name;
  }

  @Override
  protected void fill(long events) throws Exception {
    BacklogTopic.fillWithBatches(broker, topic, partitions, events);
  }

  @Override
  protected AutoCloseable start(int round, Metrics metrics) throws Exception {
    Path directory = Files.createTempDirectory(parent, "archive-threads-bench");
    Map<String, String> settings =
        Map.of(
            "broker.url", "kafka://" + broker + "/" + topic,
            "jobs", "archive",
            "archive.dir", directory.toString(),
            "archive.compact", "false",
            "archive.roll.interval", "2s",
            "archive.threads", Integer.toString(threads));
    KafkaHost host = new KafkaHost(JobConfig.load(null, Map.of(), settings), metrics);
    host.start();
    return () -> {
      host.close();
      delete(directory);
    };
  }

  /** Batches are taken in evenly, and stored many at a time. */
  @Override
  protected long done(Metrics metrics) {
    return metrics.counter("lifeline_batches_total", "", "task", "archive").value() * Backlog.EVENTS_PER_BATCH;
  }

  @Override
  protected long inResults(Metrics metrics) {
    return metrics.counter("lifeline_events_total", "", "task", "archive").value();
  }

  /** Long before something is stored, which is all at once. */
  @Override
  protected boolean isSetUp(Metrics metrics) {
    return done(metrics) > 0;
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
