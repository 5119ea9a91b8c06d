package io.lifeline.jobs.kafka;

import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.ArchiveException;
import io.lifeline.jobs.archive.ArchiveFeed;
import io.lifeline.jobs.archive.ArchiveMetrics;
import io.lifeline.jobs.archive.ArchiveWatch;
import io.lifeline.jobs.archive.ArchiveWriteException;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.jobs.core.RepeatedFailure;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.WakeupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies batches into the archive. It uses a plain consumer: the archive's own end is the position, and exactly-once
 * needs nothing else. It reads the partitions of its share, and of several instances on one archive each those that it
 * holds the locks of.
 *
 * <p>Transient errors (an unreachable broker, a full disk, credentials that are being replaced: those at the start were
 * accepted) are retried from the archive's end. A writer that bypassed
 * the locks, or a topic that does not belong to the archive, stops the host.
 */
final class ArchiveLoop implements Runnable {

  static final String NAME = "archive";

  static final String STARTING = "starting";
  static final String RUNNING = "running";
  static final String STANDBY = "standby";

  private static final Logger LOG = LoggerFactory.getLogger(ArchiveLoop.class);
  private static final Duration POLL = Duration.ofMillis(100);
  private static final Duration IDLE_POLL = Duration.ofSeconds(1);
  private static final long FIRST_PAUSE_MS = 500;
  private static final long LONGEST_PAUSE_MS = 30_000;

  private final KafkaSettings settings;
  private final Archive target;
  private final ArchiveShare share;
  private final Feed feed;
  private final ArchivePlaces places;
  private final CompletableFuture<Throwable> failure;
  private final Metrics metrics;
  private final ArchiveMetrics counts;
  private final BatchTime times = new BatchTime();
  private final CountDownLatch stop = new CountDownLatch(1);
  private final ArchiveWatch watch;
  private final RepeatedFailure repeated = new RepeatedFailure();
  private final Map<Integer, Long> next = new ConcurrentHashMap<>();
  private volatile KafkaConsumer<byte[], byte[]> current;
  private volatile String status = STARTING;
  private boolean hasFailed;

  /**
   * @param target the archive of the share's writer
   * @param places which batches belong into its partitions
   * @param rollInterval after which it stores what it has read
   */
  ArchiveLoop(
      KafkaSettings settings,
      Archive target,
      ArchiveShare share,
      ArchiveFeed feed,
      ArchivePlaces places,
      Duration rollInterval,
      Metrics metrics,
      CompletableFuture<Throwable> failure) {
    this.settings = settings;
    this.target = target;
    this.share = share;
    this.feed = new Feed(feed);
    this.places = places;
    this.failure = failure;
    this.metrics = metrics;
    this.counts = new ArchiveMetrics(metrics, NAME);
    this.watch = new ArchiveWatch(target, rollInterval);
    metrics.gauge("lifeline_archive_damages", "Damages that the last maintenance of the archive found.",
        () -> target.damages().size(), "task", NAME);
    metrics.gauge("lifeline_unstored_seconds", "Time that read messages have been waiting to be stored.",
        watch::secondsSinceStored, "task", share.name());
  }

  /** Returns {@link #STARTING}, {@link #RUNNING}, {@link #STANDBY}, or the current error. */
  String status() {
    String now = status;
    String trouble = now.equals(RUNNING) ? watch.trouble() : null;
    return trouble == null ? now : trouble;
  }

  /** Asks the loop to flush its buffered data and stop. */
  void stop() {
    stop.countDown();
    KafkaConsumer<byte[], byte[]> consumer = current;
    if (consumer != null) {
      consumer.wakeup();
    }
  }

  private boolean isStopping() {
    return stop.getCount() == 0;
  }

  @Override
  public void run() {
    long pauseMs = FIRST_PAUSE_MS;
    while (!isStopping()) {
      try {
        session();
        pauseMs = FIRST_PAUSE_MS;
      } catch (ArchiveWriteException e) {
        pauseMs = waitFor(e, pauseMs);
      } catch (ArchiveException | AuthorizationException e) {
        fail(e);
        return;
      } catch (IOException | KafkaException e) {
        pauseMs = waitFor(e, pauseMs);
      } catch (Throwable e) { // a library may throw a checked exception that it does not declare
        fail(e);
        return;
      }
    }
  }

  private void fail(Throwable reason) {
    status = "failed: " + reason.getMessage();
    failure.complete(reason);
  }

  /** Counts stored batches, and asks for the source once per poll. */
  private final class Feed implements ArchiveFeed {
    private final ArchiveFeed inner;
    private String source;

    Feed(ArchiveFeed inner) {
      this.inner = inner;
    }

    @Override
    public void reject(Rejection rejection) {
      inner.reject(rejection);
      counts.count(rejection);
    }

    @Override
    public void beforeStoring() throws IOException {
      inner.beforeStoring();
    }

    /** The answer is valid for everything read before it, so it is cached until the next poll. */
    @Override
    public String source(int partition) throws IOException {
      if (source == null) {
        source = inner.source(partition);
      }
      return source;
    }

    @Override
    public String elsewhere(Incarnation emitter, Position position) {
      return places.elsewhere(emitter, position);
    }

    void hasRead() {
      source = null;
      places.hasRead();
    }

    @Override
    public void stored(Stored what) {
      counts.count(what);
      watch.stored();
      works();
    }
  }

  /** Marks the archive healthy: something was stored, or there is nothing to store. */
  private void works() {
    hasFailed = false;
    repeated.ends();
    status = RUNNING;
  }

  /** Pauses before the next attempt; returns the pause to use if that fails too. */
  private long waitFor(Exception reason, long pauseMs) {
    hasFailed = true;
    status = "retrying: " + reason.getMessage();
    if (repeated.isNews(status)) {
      LOG.warn("the archive tries again in {} ms: {}", pauseMs, reason.getMessage());
    }
    pause(pauseMs);
    return Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }

  private void pause(long ms) {
    try {
      stop.await(ms, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      stop();
    }
  }

  /** Reads from the archive's end until stopped or until an error occurs. */
  private void session() throws IOException {
    counts.startOver();
    watch.alive(hasFailed);
    ArchiveWriter archive = target.open(feed);
    boolean published = false;
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(properties())) {
      current = consumer;
      copy(consumer, archive);
      archive.close();
      published = true;
    } finally {
      current = null;
      if (!published) {
        archive.abandon();
      }
    }
  }

  /** Returns the first offset of each partition that it reads that it has not appended. */
  Map<Integer, Long> positions() {
    return Map.copyOf(next);
  }

  /** A position outside of the topic is an error: the messages are counted, or the topic is refused. */
  private Map<String, Object> properties() {
    Map<String, Object> properties = settings.consumer(settings.applicationId() + "-" + share.name());
    properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
    return properties;
  }

  private void copy(KafkaConsumer<byte[], byte[]> consumer, ArchiveWriter archive) throws IOException {
    ArchivePartitions partitions = new ArchivePartitions(consumer, settings.batches(), share, archive, metrics);
    try {
      while (!isStopping()) {
        watch.alive(!archive.isStored() || hasFailed);
        partitions.takeFree();
        if (partitions.isEmpty()) {
          hasFailed = false;
          repeated.ends();
          status = STANDBY;
          next.clear();
          pause(POLL.toMillis());
          continue;
        }
        if (!hasFailed) {
          status = RUNNING;
        }
        ConsumerRecords<byte[], byte[]> messages = poll(consumer, archive, partitions);
        feed.hasRead();
        if (partitions.readAgainAfterConnecting()) {
          continue;
        }
        next.putAll(partitions.positions());
        for (ConsumerRecord<byte[], byte[]> message : messages) {
          append(archive, message);
        }
        if (hasFailed && archive.isStored() && partitions.isAtEnd()) {
          works();
        }
        next.putAll(partitions.positions());
        archive.rollIfDue(System.nanoTime());
      }
    } catch (WakeupException e) {
      if (!isStopping()) {
        throw e;
      }
    }
  }

  private ConsumerRecords<byte[], byte[]> poll(
      KafkaConsumer<byte[], byte[]> consumer, ArchiveWriter archive, ArchivePartitions partitions) throws IOException {
    try {
      return consumer.poll(archive.isStored() ? IDLE_POLL : POLL);
    } catch (OffsetOutOfRangeException e) { // the messages have expired, or the broker has lost them
      LOG.warn("the archive's position is not in the topic any more: {}", e.getMessage());
      archive.roll(); // the topic no longer has it
      feed.hasRead(); // it may be another one
      partitions.readAgain();
      return ConsumerRecords.empty();
    }
  }

  private void append(ArchiveWriter archive, ConsumerRecord<byte[], byte[]> message) throws IOException {
    Position position = new Position(message.partition(), message.offset(), times.of(message));
    Rejection refusal =
        settings.signatures().refusal(position, message.value(), SignatureHeader.of(message.headers()));
    counts.count(position, archive.append(position, message.value(), refusal));
  }
}
