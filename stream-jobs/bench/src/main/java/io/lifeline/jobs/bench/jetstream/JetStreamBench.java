package io.lifeline.jobs.bench.jetstream;

import io.lifeline.jobs.bench.Backlog;
import io.lifeline.jobs.bench.BatchPublisher;
import io.lifeline.jobs.bench.Bench;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.summarise.WindowMerger;
import io.lifeline.jobs.jetstream.JetStreamHost;
import io.nats.client.Connection;
import io.nats.client.ConsumeOptions;
import io.nats.client.IterableConsumer;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.api.KeyValueConfiguration;
import io.nats.client.api.OrderedConsumerConfiguration;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Reads a backlog on JetStream with the job summarise, or with a bare consumer that only counts messages. */
@Command(name = "jetstream-bench", mixinStandardHelpOptions = true, description = "Reads a backlog on JetStream.")
public final class JetStreamBench extends Bench {

  /** The reader. */
  enum Kind {
    SUMMARISE,
    BARE
  }

  private static final int READ_AHEAD = 200;
  private static final Duration POLL = Duration.ofMillis(100);
  private static final String BARE_EVENTS = "bench_bare_events_total";

  @Option(names = "--kind", required = true, description = "one of ${COMPLETION-CANDIDATES}")
  private Kind kind;

  @Option(names = "--url", required = true, description = "the broker, with Lifeline's streams")
  private String url;

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new JetStreamBench()).execute(arguments));
  }

  @Override
  protected String rowName() {
    return "jetstream." + kind.name().toLowerCase(Locale.ROOT);
  }

  @Override
  protected void fill(long events) throws Exception {
    try (BatchPublisher publisher = BatchPublisher.to(url)) {
      Backlog.batches(events, (emitter, batch) -> publisher.publish(Backlog.incarnation(emitter), batch));
    }
  }

  @Override
  protected AutoCloseable start(int round, Metrics metrics) throws Exception {
    if (kind == Kind.BARE) {
      BareConsumer consumer = new BareConsumer(metrics.counter(BARE_EVENTS, "Events of the messages that came."));
      Thread thread = new Thread(consumer, "bare");
      thread.start();
      return () -> {
        thread.interrupt();
        thread.join();
      };
    }
    String bucket = "bench-" + (round + WARM_UP_ROUNDS);
    try (Connection connection = Nats.connect(url)) {
      connection.keyValueManagement().create(KeyValueConfiguration.builder().name(bucket).build());
    }
    Map<String, String> settings =
        Map.of(
            "broker.url", url,
            "jobs", "summarise",
            "summarise.fields", Backlog.SELECTED_FIELDS,
            "nats.bucket", bucket);
    JetStreamHost host = new JetStreamHost(JobConfig.load(null, Map.of(), settings), metrics);
    host.start();
    return host;
  }

  /** For summarise, half of the events pass, with two values each. */
  @Override
  protected long done(Metrics metrics) {
    return metrics.counter(kind == Kind.BARE ? BARE_EVENTS : WindowMerger.VALUES, "").value();
  }

  /** Reads in the same way as the jobs' consumer. */
  private final class BareConsumer implements Runnable {
    private final Metrics.Counter events;

    BareConsumer(Metrics.Counter events) {
      this.events = events;
    }

    @Override
    public void run() {
      try (Connection connection = Nats.connect(url);
          IterableConsumer consumer =
              connection
                  .getStreamContext("LIFELINE")
                  .createOrderedConsumer(new OrderedConsumerConfiguration().filterSubject("lifeline.batches.*"))
                  .iterate(ConsumeOptions.builder().batchSize(READ_AHEAD).build())) {
        while (true) {
          Message message = consumer.nextMessage(POLL);
          if (message != null) {
            events.add(Backlog.EVENTS_PER_BATCH);
          }
        }
      } catch (InterruptedException e) {
        // The end of the round.
        Thread.currentThread().interrupt();
      } catch (Exception e) {
        throw new IllegalStateException("the bare consumer ended: " + e.getMessage(), e);
      }
    }
  }
}
