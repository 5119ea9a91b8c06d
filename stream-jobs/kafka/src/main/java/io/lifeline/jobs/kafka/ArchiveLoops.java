package io.lifeline.jobs.kafka;

import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.ArchiveFeed;
import io.lifeline.jobs.archive.RollOptions;
import io.lifeline.jobs.archive.location.ArchiveSettings;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.jobs.core.config.JobConfig;
import io.lifeline.jobs.core.config.Keys;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.Uuid;

/**
 * The loops that write the archive, each on its own thread with its own consumer and writer. They share the partitions
 * and the memory, and nothing else: the archive serves several writers of one process as it serves those of several.
 */
final class ArchiveLoops {

  /** Maximum by default: each loop needs memory of its own besides its share. */
  private static final int DEFAULT_LIMIT = 4;

  /** Statuses without an error, from the worst one on. */
  private static final List<String> WELL = List.of(ArchiveLoop.STARTING, ArchiveLoop.RUNNING, ArchiveLoop.STANDBY);

  private final JobConfig config;
  private final KafkaSettings settings;
  private final Topics topics;
  private final Metrics metrics;
  private final CompletableFuture<Throwable> failure;
  private final List<ArchiveLoop> loops = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final List<RejectedTopic> rejected = new ArrayList<>();

  /** @param failure completed by the first loop that fails */
  ArchiveLoops(
      JobConfig config,
      KafkaSettings settings,
      Topics topics,
      Metrics metrics,
      CompletableFuture<Throwable> failure) {
    this.config = config;
    this.settings = settings;
    this.topics = topics;
    this.metrics = metrics;
    this.failure = failure;
  }

  /**
   * @param places where batches belong, which all consumers judge in the same way
   * @param publishesRejections false if the stream jobs do
   */
  void start(BatchPlaces places, boolean publishesRejections) {
    Archive archive = ArchiveSettings.archive(config);
    int count = count(config, places.partitions());
    for (int number = 0; number < count; number++) {
      ArchiveShare share = new ArchiveShare(number, count);
      ArchiveFeed feed = feed(publishesRejections ? rejectedTopic(share) : null);
      ArchiveLoop loop = new ArchiveLoop(settings, archive.share(number, count), share, feed,
          new ArchivePlaces(places, topics::partitions),
          config.find(Keys.ARCHIVE_ROLL_INTERVAL).orElse(RollOptions.DEFAULT_INTERVAL), metrics, failure);
      loops.add(loop);
      metrics.gauge("lifeline_lag_messages", "Messages that are not yet read.", () -> topics.lag(loop.positions()),
          "task", share.name());
      threads.add(new Thread(loop, "lifeline-" + share.name()));
    }
    threads.forEach(Thread::start);
  }

  static int count(JobConfig config, int partitions) {
    return Math.min(config.find(Keys.ARCHIVE_THREADS).orElseGet(() -> byDefault(config)), partitions);
  }

  /**
   * Of Parquet files, one for two processors: DuckDB encodes the rows of one with both. One on PostgreSQL, which
   * encodes while the server stores: each transaction may lock hundreds of tables.
   */
  private static int byDefault(JobConfig config) {
    int pairs = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    return config.find(Keys.ARCHIVE_URL).isPresent() ? 1 : Math.min(pairs, DEFAULT_LIMIT);
  }

  /** Each loop has its own: it stores nothing before its own rejections, and their failures are reported to it. */
  private RejectedTopic rejectedTopic(ArchiveShare share) {
    RejectedTopic topic = new RejectedTopic(settings, config.get(Keys.NAMES_PREFIX), share);
    rejected.add(topic);
    return topic;
  }

  /** @param rejections null if the stream jobs publish rejections */
  private ArchiveFeed feed(RejectedTopic rejections) {
    return new ArchiveFeed() {
      @Override
      public void reject(Rejection rejection) {
        if (rejections != null) {
          rejections.publish(rejection);
        }
      }

      @Override
      public void beforeStoring() {
        if (rejections != null) {
          rejections.await();
        }
      }

      @Override
      public String source(int partition) {
        Uuid id = topics.batchesId();
        return id == null ? null : "topic " + id;
      }
    };
  }

  /** Returns the status of the loop that is worst off. */
  String status() {
    return worst(loops.stream().map(ArchiveLoop::status).toList());
  }

  static String worst(Collection<String> statuses) {
    return statuses.stream().min(Comparator.comparingInt(WELL::indexOf)).orElse(ArchiveLoop.STARTING);
  }

  /** Asks the loops to store their buffered data and stop; {@link #awaitEnd} waits until they have. */
  void stop() {
    loops.forEach(ArchiveLoop::stop);
  }

  void awaitEnd() {
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    rejected.forEach(RejectedTopic::close);
  }
}
