package io.lifeline.connect.bench;

import io.lifeline.connect.nats.JetStreamSource;
import io.lifeline.connect.testing.ConnectCluster;
import io.nats.client.Connection;
import io.nats.client.JetStream;
import io.nats.client.Nats;
import io.nats.client.api.PublishAck;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Messages per second from a stream to a topic, exactly once: by the connector in a Connect worker, alternating with a
 * {@linkplain BareLoop loop} without Connect. Worker, Kafka broker and loop share this process; the producers have the
 * same settings. The first fifth of the topic is not counted, to exclude the set-up: the task's start, connections, the
 * first transaction.
 */
@Command(name = "jetstream-source-bench", mixinStandardHelpOptions = true, description = "Connector and bare loop.")
public final class JetStreamSourceBench implements Runnable {

  private static final String STREAM = "BENCH";
  private static final int PUBLISHED_AHEAD = 500;
  private static final CompilationMXBean COMPILER = ManagementFactory.getCompilationMXBean();

  /** Connect has more code to compile than the loop, and the compiler takes its share of the cores. */
  private static final int WARM_UP_ROUNDS = 10;

  private static final Map<String, String> PRODUCER =
      Map.of(
          "linger.ms", "5",
          "batch.size", "262144",
          "buffer.memory", "67108864",
          "max.in.flight.requests.per.connection", "5");

  /** @param setUpShare the share of the measured time in which the Java machine compiled */
  private record Reading(double perSecond, double setUpShare) {}

  private interface Copy {
    void start(String topic) throws Exception;
  }

  @Option(names = "--nats", required = true, description = "where a nats-server with JetStream is")
  private String nats;

  @Option(names = "--rounds", defaultValue = "11", description = "repetitions (default ${DEFAULT-VALUE})")
  private int rounds;

  @Option(names = "--messages", defaultValue = "600000", description = "messages each (default ${DEFAULT-VALUE})")
  private int messages;

  @Option(names = "--bytes", defaultValue = "128", description = "bytes of a message (default ${DEFAULT-VALUE})")
  private int bytes;

  private ConnectCluster cluster;

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new JetStreamSourceBench()).execute(arguments));
  }

  @Override
  public void run() {
    try (ConnectCluster started = ConnectCluster.start(1, Map.of("offset.flush.interval.ms", "1000"))) {
      cluster = started;
      fill();
      Reading[] connector = new Reading[rounds];
      Reading[] bare = new Reading[rounds];
      for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
        String name = "connector-" + (round + WARM_UP_ROUNDS); // a new one each time: offsets outlive a connector
        Reading one = measure(name, this::startConnector);
        cluster.connect().deleteConnector(name);
        Reading other = measure("bare-" + (round + WARM_UP_ROUNDS), this::startLoop);
        if (round >= 0) {
          connector[round] = one;
          bare[round] = other;
        }
      }
      print("connector", connector);
      print("loop.bare", bare);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private void fill() throws Exception {
    try (Connection connection = Nats.connect(nats)) {
      connection
          .jetStreamManagement()
          .addStream(
              StreamConfiguration.builder().name(STREAM).subjects("bench").storageType(StorageType.File).build());
      JetStream jetStream = connection.jetStream();
      byte[] body = new byte[bytes];
      Deque<CompletableFuture<PublishAck>> ahead = new ArrayDeque<>();
      for (int i = 0; i < messages; i++) {
        Arrays.fill(body, (byte) i);
        ahead.add(jetStream.publishAsync("bench", body.clone()));
        if (ahead.size() > PUBLISHED_AHEAD) {
          ahead.remove().get();
        }
      }
      CompletableFuture.allOf(ahead.toArray(new CompletableFuture<?>[0])).get();
    }
  }

  private void startConnector(String topic) {
    Map<String, String> settings = new HashMap<>();
    settings.put("connector.class", JetStreamSource.class.getName());
    settings.put("tasks.max", "1");
    settings.put("nats.url", nats);
    settings.put("nats.stream", STREAM);
    settings.put("nats.start", "first");
    settings.put("kafka.topic", topic);
    settings.put("transaction.boundary", "interval");
    PRODUCER.forEach((name, value) -> settings.put("producer.override." + name, value));
    cluster.connect().configureConnector(topic, settings);
  }

  private void startLoop(String topic) {
    Thread loop =
        new Thread(
            () -> {
              try {
                BareLoop.copy(nats, STREAM, cluster.bootstrapServers(), PRODUCER, topic, messages, bytes);
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            });
    loop.setDaemon(true);
    loop.start();
  }

  /** Messages per second between the first fifth and the last twentieth. */
  private Reading measure(String topic, Copy copy) throws Exception {
    cluster.connect().kafka().createTopic(topic, 1);
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", (Object) cluster.bootstrapServers()))) {
      copy.start(topic);
      long first = await(admin, topic, messages / 5);
      long firstNs = System.nanoTime();
      long compiledMs = COMPILER.getTotalCompilationTime();
      long last = await(admin, topic, messages - messages / 20);
      long lastNs = System.nanoTime();
      double setUpShare = (COMPILER.getTotalCompilationTime() - compiledMs) * 1e6 / (lastNs - firstNs);
      await(admin, topic, messages);
      admin.deleteTopics(List.of(topic)).all().get();
      return new Reading((last - first) * 1e9 / (lastNs - firstNs), setUpShare);
    }
  }

  private static long await(Admin admin, String topic, long count) throws Exception {
    TopicPartition partition = new TopicPartition(topic, 0);
    while (true) {
      try {
        long end = admin.listOffsets(Map.of(partition, OffsetSpec.latest())).partitionResult(partition).get().offset();
        if (end >= count) {
          return end;
        }
      } catch (ExecutionException e) {
        if (!(e.getCause() instanceof UnknownTopicOrPartitionException)) { // metadata of the new topic may lag
          throw e;
        }
      }
      Thread.sleep(5);
    }
  }

  private static void print(String name, Reading[] readings) {
    String rates =
        Arrays.stream(readings)
            .map(reading -> String.format(Locale.ROOT, "%.3f", reading.perSecond()))
            .collect(Collectors.joining(","));
    double setUpShare = Arrays.stream(readings).mapToDouble(Reading::setUpShare).average().orElseThrow();
    System.out.println("{\"name\":\"" + name + "\",\"per_s\":[" + rates + "],\"set_up_share\":" + setUpShare + "}");
  }
}
