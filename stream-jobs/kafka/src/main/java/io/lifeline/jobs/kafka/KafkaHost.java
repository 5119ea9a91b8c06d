package io.lifeline.jobs.kafka;

import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.ArchiveFeed;
import io.lifeline.jobs.archive.ArchiveSettings;
import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.JobHost;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.jobs.core.bottleneck.BottleneckJob;
import io.lifeline.jobs.core.bottleneck.BottleneckSettings;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.lifeline.jobs.core.decode.DecodeJob;
import io.lifeline.jobs.core.decode.DecodeSettings;
import io.lifeline.jobs.core.filter.FilterJob;
import io.lifeline.jobs.core.filter.FilterSettings;
import io.lifeline.jobs.core.ledger.ArchivedCounts;
import io.lifeline.jobs.core.ledger.LedgerJob;
import io.lifeline.jobs.core.ledger.LedgerSettings;
import io.lifeline.jobs.core.pair.PairJob;
import io.lifeline.jobs.core.pair.PairSettings;
import io.lifeline.jobs.core.summarise.SummariseJob;
import io.lifeline.jobs.core.summarise.SummariseSettings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.streams.Topology;

/**
 * Runs jobs on Kafka. Those that work on a stream share one topology, which shares one de-duplication; the archive is a
 * consumer of its own, outside any group.
 */
public final class KafkaHost implements JobHost {

  private static final long START_POLL_MS = 20;

  private final JobConfig config;
  private final Metrics metrics;
  private final KafkaSettings settings;
  private final List<String> jobs;
  private final CompletableFuture<Throwable> failure = new CompletableFuture<>();
  private Topics topics;
  private StreamsRunner streams;
  private RejectedTopic rejected;
  private ArchiveLoop archive;
  private Thread archiveThread;
  private ArchivedCounts archived;

  public KafkaHost(JobConfig config, Metrics metrics) {
    this.config = config;
    this.metrics = metrics;
    this.settings = new KafkaSettings(config);
    this.jobs = config.get(Keys.JOBS);
  }

  @Override
  public void start() throws HostException {
    try {
      topics = new Topics(settings);
      topics.require(requiredTopics());
      topics.warnUnlessBrokerTime();
      topics.awaitBatchesId();
      if (!streamJobs().isEmpty()) {
        streams = new StreamsRunner(topology(), settings, config.find(Keys.STATE_DIR), metrics, failure);
      }
      // The archive needs no group, so after a crash it works while Streams still waits for its former self.
      if (jobs.contains(ArchiveLoop.NAME)) {
        startArchive();
      }
      if (streams != null) {
        streams.start();
      }
      awaitRunning();
    } catch (KafkaException e) {
      throw BrokerTrouble.explain(settings.shownUrl(), e);
    } catch (IOException e) {
      throw new HostException("the state directory cannot be used: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HostException("interrupted while starting", e);
    }
  }

  /** Those that share the topology. */
  private List<String> streamJobs() {
    return jobs.stream().filter(job -> !job.equals(ArchiveLoop.NAME)).toList();
  }

  private List<String> requiredTopics() {
    String prefix = config.get(Keys.NAMES_PREFIX);
    List<String> required = new ArrayList<>(List.of(settings.batches(), prefix + ".rejected"));
    for (String job : jobs) {
      switch (job) {
        case SummariseJob.NAME -> required.add(prefix + ".summaries");
        case LedgerJob.NAME -> required.add(prefix + ".ledger");
        case BottleneckJob.NAME -> required.add(prefix + ".alerts");
        default -> {}
      }
    }
    return required;
  }

  private Topology topology() {
    TopologySettings surroundings =
        new TopologySettings(
            String.join("+", streamJobs()),
            settings.batches(),
            topics.partitions(),
            config.get(Keys.NAMES_PREFIX),
            config.get(Keys.RETENTION),
            metrics,
            topics,
            topics::logStart,
            topics::lastBatchesId,
            settings.signatures(),
            System::nanoTime);
    SummariseSettings summarise = jobs.contains(SummariseJob.NAME) ? SummariseSettings.of(config) : null;
    BottleneckSettings bottleneck = jobs.contains(BottleneckJob.NAME) ? BottleneckSettings.of(config) : null;
    return JobsTopology.build(surroundings, jobsByEmitter(), summarise, bottleneck);
  }

  /** Settings are read here, so that what is wrong with them shows at the start and not in a stream thread. */
  private Function<KeyedState, List<Job>> jobsByEmitter() {
    List<Function<KeyedState, Job>> makers = new ArrayList<>();
    if (jobs.contains(DecodeJob.NAME)) {
      DecodeSettings decode = DecodeSettings.of(config);
      makers.add(state -> new DecodeJob(decode, metrics));
    }
    if (jobs.contains(FilterJob.NAME)) {
      FilterSettings filter = FilterSettings.of(config);
      makers.add(state -> new FilterJob(filter, state, metrics));
    }
    if (jobs.contains(PairJob.NAME)) {
      PairSettings pair = PairSettings.of(config);
      makers.add(state -> new PairJob(pair, state, metrics));
    }
    if (jobs.contains(LedgerJob.NAME)) {
      LedgerSettings ledger = LedgerSettings.of(config);
      archived =
          ArchiveSettings.find(config)
              .map(target -> new ArchivedCounts(target.counts(), config.get(Keys.LEDGER_INTERVAL)))
              .orElse(null);
      makers.add(state -> new LedgerJob(ledger, state, archived, metrics));
    }
    return state -> makers.stream().map(maker -> maker.apply(state)).toList();
  }

  private void startArchive() {
    Archive target = ArchiveSettings.archive(config);
    rejected = streamJobs().isEmpty() ? new RejectedTopic(settings, config.get(Keys.NAMES_PREFIX)) : null;
    archive = new ArchiveLoop(settings, target, feed(topics, rejected), metrics, failure);
    archiveThread = new Thread(archive, "lifeline-archive");
    archiveThread.start();
  }

  /** @param rejected null if others tell of rejections */
  private static ArchiveFeed feed(Topics topics, RejectedTopic rejected) {
    return new ArchiveFeed() {
      @Override
      public void reject(Rejection rejection) {
        if (rejected != null) {
          rejected.publish(rejection);
        }
      }

      @Override
      public void beforeStoring() {
        if (rejected != null) {
          rejected.await();
        }
      }

      @Override
      public String source(int partition) {
        Uuid id = topics.batchesId();
        return id == null ? null : "topic " + id;
      }
    };
  }

  private void awaitRunning() throws InterruptedException {
    while (!failure.isDone() && parts().containsValue(ArchiveLoop.STARTING)) {
      Thread.sleep(START_POLL_MS);
    }
  }

  /** The clients wait in silence for a broker that is away, and Streams still calls that running: so it is asked. */
  @Override
  public Map<String, String> health() {
    Map<String, String> health = parts();
    if (!topics.answers()) {
      health.put("broker", "does not answer");
    }
    return health;
  }

  private Map<String, String> parts() {
    Map<String, String> health = new TreeMap<>();
    for (String job : jobs) {
      health.put(job, job.equals(ArchiveLoop.NAME) ? archive.status() : streams.status());
    }
    return health;
  }

  @Override
  public CompletionStage<Throwable> failure() {
    return failure;
  }

  @Override
  public void close() {
    if (archive != null) {
      archive.stop();
    }
    if (streams != null) {
      streams.close();
    }
    if (archiveThread != null) {
      try {
        archiveThread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    if (rejected != null) {
      rejected.close();
    }
    if (archived != null) {
      archived.close();
    }
    if (topics != null) {
      topics.close();
    }
  }
}
