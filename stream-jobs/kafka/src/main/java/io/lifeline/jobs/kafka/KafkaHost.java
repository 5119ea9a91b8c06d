package io.lifeline.jobs.kafka;

import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.location.ArchiveSettings;
import io.lifeline.jobs.core.JobHost;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.NativeLibraries;
import io.lifeline.jobs.core.all.AllJobs;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import io.lifeline.jobs.core.plan.JobFactory;
import io.lifeline.jobs.core.plan.Plan;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.streams.Topology;
import org.rocksdb.RocksDB;

/**
 * Runs jobs on Kafka. The stream jobs share one topology with one de-duplication; the archive uses its own consumers,
 * which are in no group.
 */
public final class KafkaHost implements JobHost {

  private static final long START_POLL_MS = 20;

  private final JobConfig config;
  private final Metrics metrics;
  private final KafkaSettings settings;
  private final List<String> jobs;
  private final CompletableFuture<Throwable> failure = new CompletableFuture<>();
  private final List<Plan> plans = new ArrayList<>();
  private Topics topics;
  private StreamsRunner streams;
  private ArchiveLoops archive;

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
      BatchPlaces places = new BatchPlaces(topics.partitions(), settings.earlierPartitions(), topics.logEnds());
      if (!streamJobs().isEmpty()) {
        RocksDB.loadLibrary();
        NativeLibraries.removeUnpacked();
        streams = new StreamsRunner(topology(places), settings, config.find(Keys.STATE_DIR),
            topics::largestUncommitted, metrics, failure);
      }
      // The archive needs no group, so after a crash it works while Streams still waits for the old member's timeout.
      if (jobs.contains(ArchiveLoop.NAME)) {
        archive = new ArchiveLoops(config, settings, topics, metrics, failure);
        archive.start(places, streamJobs().isEmpty());
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

  /** Returns the jobs that share the topology. */
  private List<String> streamJobs() {
    return jobs.stream().filter(job -> !job.equals(ArchiveLoop.NAME)).toList();
  }

  private List<String> requiredTopics() {
    String prefix = config.get(Keys.NAMES_PREFIX);
    List<String> required = new ArrayList<>(List.of(settings.batches(), prefix + ".rejected"));
    factories().forEach(job -> job.outputs().forEach(output -> required.add(output.topic(prefix))));
    return required;
  }

  private Stream<JobFactory> factories() {
    return AllJobs.of(() -> ArchiveSettings.find(config).map(Archive::counts)).stream()
        .filter(job -> jobs.contains(job.name()));
  }

  private Topology topology(BatchPlaces places) {
    TopologySettings surroundings =
        new TopologySettings(
            String.join("+", streamJobs()),
            settings.batches(),
            places,
            config.get(Keys.NAMES_PREFIX),
            config.get(Keys.RETENTION),
            metrics,
            topics,
            topics::logStart,
            topics::lastBatchesId,
            settings.signatures(),
            System::nanoTime);
    factories().forEach(job -> plans.add(job.plan(config, metrics)));
    return JobsTopology.build(surroundings, plans);
  }

  private void awaitRunning() throws InterruptedException {
    while (!failure.isDone() && parts().containsValue(ArchiveLoop.STARTING)) {
      Thread.sleep(START_POLL_MS);
    }
  }

  /** Checks the broker as well: clients wait silently for an unreachable broker, and Streams still reports running. */
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
    if (archive != null) {
      archive.awaitEnd();
    }
    plans.forEach(Plan::close);
    if (topics != null) {
      topics.close();
    }
  }
}
