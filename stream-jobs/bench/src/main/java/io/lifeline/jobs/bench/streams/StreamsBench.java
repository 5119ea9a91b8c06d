package io.lifeline.jobs.bench.streams;

import io.lifeline.jobs.bench.Backlog;
import io.lifeline.jobs.bench.Bench;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.summarise.SummariseSettings;
import io.lifeline.jobs.core.summarise.WindowMerger;
import io.lifeline.jobs.kafka.KafkaHost;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Filters and summarises a backlog on Kafka with exactly-once semantics, in one of the formats. */
@Command(name = "streams-bench", mixinStandardHelpOptions = true, description = "Summarises a backlog on Kafka.")
public final class StreamsBench extends Bench {

  /** Format of the backlog, and the program that summarises it. */
  enum Kind {
    SUMMARISE,
    JSON,
    AVRO,
    JSON_DSL;

    String rowName() {
      return "streams." + name().toLowerCase(Locale.ROOT).replace('_', '.');
    }

    Supplier<Format> format() {
      return this == AVRO ? AvroFormat::new : JsonFormat::new;
    }
  }

  private static final int THREADS = 2;

  /** By its next heartbeat the first thread learns that there is a second: until then it has all partitions. */
  private static final String HEARTBEAT = ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG;

  private static final String HEARTBEAT_MS = "100";

  @Option(names = "--kind", required = true, description = "one of ${COMPLETION-CANDIDATES}")
  private Kind kind;

  @Option(names = "--topic", required = true, description = "topic for the backlog, which is made")
  private String topic;

  @Option(names = "--partitions", defaultValue = "4", description = "of the topic (default ${DEFAULT-VALUE})")
  private int partitions;

  @Option(names = "--broker", required = true, description = "HOST:PORT of the broker")
  private String broker;

  @Option(names = "--dir", required = true, description = "for the local state of Kafka Streams; left behind")
  private Path directory;

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new StreamsBench()).execute(arguments));
  }

  @Override
  protected String rowName() {
    return kind.rowName();
  }

  /** All producers batch and compress: ours in Lifeline's batches, the others in Kafka's batches of the same size. */
  @Override
  protected void fill(long events) throws Exception {
    if (kind == Kind.SUMMARISE) {
      BacklogTopic.fillWithBatches(broker, topic, partitions, events);
      return;
    }
    Format format = kind.format().get();
    try (BacklogTopic backlog = BacklogTopic.create(broker, topic, partitions, "lz4")) {
      Backlog.events(
          0,
          events,
          event -> {
            int emitter = 1 + (int) (event.timeNs() / Backlog.STEP_NS / Backlog.EVENTS_PER_BATCH % Backlog.EMITTERS);
            backlog.send(emitter, event.timeNs() / 1_000_000, format.encode(event));
          });
    }
  }

  @Override
  protected AutoCloseable start(int round, Metrics metrics) throws Exception {
    String application = topic + "-" + (round + WARM_UP_ROUNDS);
    Map<String, String> settings =
        Map.of(
            "broker.url", "kafka://" + broker + "/" + topic,
            "jobs", "summarise",
            "summarise.fields", Backlog.SELECTED_FIELDS,
            "kafka.application.id", application,
            "state.dir", directory.toString(),
            "kafka.num.stream.threads", Integer.toString(THREADS),
            "kafka." + HEARTBEAT, HEARTBEAT_MS);
    JobConfig config = JobConfig.load(null, Map.of(), settings);
    if (kind == Kind.SUMMARISE) {
      KafkaHost host = new KafkaHost(config, metrics);
      host.start();
      return host;
    }
    SummariseSettings summarise = SummariseSettings.of(config);
    String results = "lifeline.summaries";
    Topology topology =
        kind == Kind.JSON_DSL
            ? RivalTopologies.dsl(topic, results, kind.format(), summarise, metrics)
            : RivalTopologies.processor(topic, results, kind.format(), summarise, metrics);
    KafkaStreams streams = new KafkaStreams(topology, properties(application));
    streams.start();
    return streams;
  }

  /** Returns the same settings as those of the jobs' host. */
  private Properties properties(String application) {
    Properties properties = new Properties();
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, broker);
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, application);
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 1000);
    properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 64L << 20);
    properties.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, THREADS);
    properties.put(StreamsConfig.PROCESSING_EXCEPTION_HANDLER_GLOBAL_ENABLED_CONFIG, true);
    properties.put(ProducerConfig.BATCH_SIZE_CONFIG, 256 << 10);
    properties.put(StreamsConfig.STATE_DIR_CONFIG, directory.toString());
    properties.put(HEARTBEAT, HEARTBEAT_MS);
    return properties;
  }

  /** The second stage sees nothing before a transaction of the first ends, so the first one's events are counted. */
  @Override
  protected long done(Metrics metrics) {
    return kind == Kind.SUMMARISE ? takenIn(metrics).sum() : inResults(metrics);
  }

  /** Half of the events pass, with two values each. */
  @Override
  protected long inResults(Metrics metrics) {
    return metrics.counter(WindowMerger.VALUES, "").value();
  }

  @Override
  protected boolean isSetUp(Metrics metrics) {
    return super.isSetUp(metrics) && (kind != Kind.SUMMARISE || takenIn(metrics).allMatch(events -> events > 0));
  }

  /** Returns the events that each partition's task has accepted. */
  private LongStream takenIn(Metrics metrics) {
    return IntStream.range(0, partitions)
        .mapToLong(task -> metrics.counter("lifeline_events_total", "", "task", "summarise-" + task).value());
  }
}
