package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateReader.NewerStateException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import java.util.stream.Stream;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.CloseOptions.GroupMembershipOperation;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs Kafka Streams: manages its state directory, failures and shutdown. */
final class StreamsRunner implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(StreamsRunner.class);

  /** A replaced thread looks healthy until it reaches the record that the previous one failed at. */
  private static final long WELL_AGAIN_NS = Duration.ofSeconds(30).toNanos();

  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(30);

  /** The state is in the changelog, so the group need not wait for this instance to return. */
  private static final CloseOptions CLOSE =
      CloseOptions.timeout(CLOSE_TIMEOUT).withGroupMembershipOperation(GroupMembershipOperation.LEAVE_GROUP);

  private static final Duration REFUSED_PAUSE = Duration.ofSeconds(5);

  private final CountDownLatch closing = new CountDownLatch(1);
  private final FailureBudget failures = new FailureBudget(System::nanoTime);
  private final CompletableFuture<Throwable> failure;
  private final String application;
  private final KafkaStreams streams;
  private final Path directory;
  private final boolean isTemporary;
  private volatile boolean hasRun;
  private volatile Throwable lastFailure;
  private volatile long lastFailureNs;

  /** Why this instance cannot work; null if it can. */
  private volatile NewerStateException outdated;

  /** @param stateDirectory if empty, a temporary directory is created, and removed on close */
  StreamsRunner(
      Topology topology,
      KafkaSettings settings,
      Optional<Path> stateDirectory,
      DoubleSupplier lag,
      Metrics metrics,
      CompletableFuture<Throwable> failure)
      throws IOException {
    this.failure = failure;
    this.application = settings.applicationId();
    this.isTemporary = stateDirectory.isEmpty();
    this.directory =
        isTemporary ? Files.createTempDirectory("lifeline-jobs-") : Files.createDirectories(stateDirectory.get());
    this.streams = new KafkaStreams(topology, settings.streams(directory));
    streams.setUncaughtExceptionHandler(this::onFailure);
    streams.setStateListener((now, before) -> hasRun |= now == KafkaStreams.State.RUNNING);
    ClientMetrics.show(streams, lag, metrics);
  }

  void start() {
    streams.start();
  }

  /**
   * Returns {@code starting}, {@code running}, another state of Kafka Streams, the most recent error, or why this
   * instance has to be replaced.
   */
  String status() {
    if (outdated != null) {
      return "outdated: " + outdated.getMessage();
    }
    KafkaStreams.State state = streams.state();
    Throwable reason = lastFailure;
    if (reason != null && System.nanoTime() - lastFailureNs < WELL_AGAIN_NS) {
      return "retrying: " + reason.getMessage();
    }
    return state == KafkaStreams.State.CREATED || state == KafkaStreams.State.REBALANCING && !hasRun
        ? ArchiveLoop.STARTING
        : state.name().toLowerCase(Locale.ROOT);
  }

  private StreamThreadExceptionResponse onFailure(Throwable reason) {
    lastFailure = reason;
    lastFailureNs = System.nanoTime();
    if (hasOtherPartitions(reason)) {
      failure.complete(new HostException("the number of partitions of the batch topic has changed, and the state of the"
          + " stream jobs is divided by it: stop all instances, run kafka-streams-application-reset.sh with"
          + " --application-id " + application + " and --input-topics for the batch topic, or set"
          + " kafka.application.id to a new name, then start again with the earlier number of partitions in"
          + " batches.partitions.earlier; the results of batches still on the broker are published again", reason));
      return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }
    Throwable lasting = lasting(reason);
    if (lasting instanceof NewerStateException newer) {
      outdated = newer;
      LOG.error("idle, until this instance is replaced: {}", newer.getMessage());
      return StreamThreadExceptionResponse.SHUTDOWN_CLIENT; // to leave the partitions to instances of that release
    }
    if (lasting != null) {
      failure.complete(lasting);
      return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }
    if (isCausedBy(AuthenticationException.class, reason)) { // credentials are being replaced
      LOG.warn("the broker refuses the credentials, which it accepted at the start; trying again: {}",
          reason.getMessage());
      pause();
      return StreamThreadExceptionResponse.REPLACE_THREAD;
    }
    if (isCausedBy(TopicPendingException.class, reason)) {
      LOG.warn("waiting for a topic: {}", reason.getMessage());
      pause();
      return StreamThreadExceptionResponse.REPLACE_THREAD;
    }
    if (failures.allowsAnother()) {
      LOG.warn("a stream thread failed and is replaced: {}", reason.getMessage(), reason);
      return StreamThreadExceptionResponse.REPLACE_THREAD;
    }
    failure.complete(reason);
    return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
  }

  static boolean isCausedBy(Class<? extends Throwable> wanted, Throwable reason) {
    for (Throwable cause = reason; cause != null; cause = cause.getCause()) {
      if (wanted.isInstance(cause)) {
        return true;
      }
    }
    return false;
  }

  private void pause() {
    try {
      closing.await(REFUSED_PAUSE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Kafka Streams has no class for this; its message begins "Existing internal topic ... has invalid partitions". */
  static boolean hasOtherPartitions(Throwable reason) {
    for (Throwable cause = reason; cause != null; cause = cause.getCause()) {
      if (cause.getMessage() != null && cause.getMessage().contains("has invalid partitions")) {
        return true;
      }
    }
    return false;
  }

  /** Returns a cause that would make another thread fail too; null if there is none. */
  private static Throwable lasting(Throwable reason) {
    for (Throwable cause = reason; cause != null; cause = cause.getCause()) {
      if (cause instanceof TopicReplacedException || cause instanceof StateReader.CorruptStateException) {
        return cause;
      }
    }
    return null;
  }

  @Override
  public void close() {
    closing.countDown();
    if (!streams.close(CLOSE)) {
      LOG.warn("Kafka Streams did not end within {}", CLOSE_TIMEOUT);
    }
    if (isTemporary) {
      deleteDirectory();
    }
  }

  private void deleteDirectory() {
    try (Stream<Path> files = Files.walk(directory)) {
      List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
      for (Path file : deepestFirst) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      LOG.warn("{} could not be removed: {}", directory, e.getMessage());
    }
  }
}
