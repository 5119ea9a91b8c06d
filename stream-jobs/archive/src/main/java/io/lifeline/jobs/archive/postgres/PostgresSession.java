package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.ArchiveFeed;
import io.lifeline.jobs.archive.PartitionWriter;
import io.lifeline.jobs.archive.PartitionedWriter;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.RetentionClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection, and the state that a writer's partitions share. Used by one thread; it may start work on another
 * thread, and everything else on the connection waits for that.
 */
final class PostgresSession implements PartitionedWriter.Backend {
  private static final Logger LOG = LoggerFactory.getLogger(PostgresSession.class);
  private static final long EXPIRY_INTERVAL_NS = Duration.ofMinutes(10).toNanos();

  /** Steps until the writer continues; if there are more, they follow after a pause that is so many times as long. */
  private static final int EXPIRY_STEPS = 10;

  private static final int EXPIRY_PAUSE = 4;

  private static final long CLOCK_TOLERANCE_MS = Duration.ofHours(1).toMillis();

  private final PostgresOptions options;
  private final ArchiveFeed feed;
  private final Consumer<StoreStep> progress;
  private final LongSupplier clock;
  private final Connection connection;
  private final Schema schema;
  private final String id;
  private final Catalog catalog;
  private final TimePartitions partitions;
  private final Upserts upserts;
  private final Expiry expiry;
  private final ExecutorService storer = Executors.newSingleThreadExecutor(PostgresSession::thread);
  private final AtomicLong latestBytes = new AtomicLong();
  private Task last;
  private final RetentionClock retentionClock = new RetentionClock(new MemoryState(), System::nanoTime);
  private long lastBrokerMs;
  private long nextExpiryNs = System.nanoTime();
  private long warnedNs;

  /** Work on the connection. */
  interface Work {
    void run() throws SQLException, IOException;
  }

  /** Work that was started. */
  static final class Task {
    private final CompletableFuture<Void> end;

    private Task(CompletableFuture<Void> end) {
      this.end = end;
    }

    /** Waits for the work to finish, and rethrows its failure. */
    void await() throws IOException {
      try {
        end.join();
      } catch (CompletionException e) {
        if (e.getCause() instanceof UncheckedIOException failure) {
          throw failure.getCause();
        }
        throw e.getCause() instanceof RuntimeException failure ? failure : e;
      }
    }

    private void awaitEnd() {
      end.exceptionally(failure -> null).join();
    }
  }

  /** @param id the archive's id; null until it was found once */
  PostgresSession(PostgresOptions options, AtomicReference<String> id, ArchiveFeed feed,
      Consumer<StoreStep> progress, LongSupplier clock) throws IOException {
    this.options = options;
    this.feed = feed;
    this.progress = progress;
    this.clock = clock;
    this.connection = Database.connect(options);
    this.schema = new Schema(options);
    try {
      this.id = schema.create(connection, id.get());
      id.compareAndSet(null, this.id);
      this.catalog = new Catalog(connection, schema);
      this.partitions = new TimePartitions(connection, schema, options.partition());
      this.upserts = new Upserts(connection);
      this.expiry = new Expiry(connection, schema, partitions, EXPIRY_STEPS);
      MissingIndexes.make(options, schema, connection);
      connection.commit();
    } catch (SQLException e) {
      close();
      throw Database.translated("cannot open", options, e);
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  PostgresOptions options() {
    return options;
  }

  Connection connection() {
    return connection;
  }

  Schema schema() {
    return schema;
  }

  /** Returns the archive's id. */
  String id() {
    return id;
  }

  Catalog catalog() {
    return catalog;
  }

  TimePartitions partitions() {
    return partitions;
  }

  Upserts upserts() {
    return upserts;
  }

  /** Returns the memory of the latest events that all partitions have put off to write. */
  AtomicLong latestBytes() {
    return latestBytes;
  }

  /** Records the broker time of a message. */
  void observe(long brokerMs) {
    lastBrokerMs = brokerMs;
    if (!retentionClock.isSet()) {
      retentionClock.startAt(Math.min(brokerMs, clock.getAsLong()));
    }
    retentionClock.observe(brokerMs);
  }

  /** Returns the broker time of the last message read; before the first, this machine's time. */
  long nowMs() {
    return retentionClock.isSet() ? lastBrokerMs : clock.getAsLong();
  }

  /**
   * Returns the time that retention is based on. A clock that is set forward, the broker's or this machine's, cannot
   * cause data to be deleted, since the earlier of the two applies.
   */
  private long retentionMs() {
    return Math.min(retentionClock.nowMs(), clock.getAsLong());
  }

  void reached(StoreStep step) {
    progress.accept(step);
  }

  private static Thread thread(Runnable work) {
    Thread thread = new Thread(work, "archive-store");
    thread.setDaemon(true);
    return thread;
  }

  /** Runs the work; on failure, rolls back and clears cached state that may be wrong. */
  void run(String doing, Work work) throws IOException {
    settle();
    runNow(doing, work);
  }

  /** As {@link #run}, on another thread. Until the work has finished, nothing that it uses may change. */
  Task start(String doing, Work work) {
    settle();
    last = new Task(CompletableFuture.runAsync(() -> {
      try {
        runNow(doing, work);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }, storer));
    return last;
  }

  /** Waits for work that was started, ignoring its outcome, which its {@link Task} reports. */
  private void settle() {
    if (last != null) {
      last.awaitEnd();
      last = null;
    }
  }

  private void runNow(String doing, Work work) throws IOException {
    try {
      work.run();
    } catch (SQLException e) {
      rollBack(e);
      partitions.forget();
      throw Database.translated(doing, options, e);
    } catch (IOException | RuntimeException e) {
      rollBack(e);
      throw e;
    }
  }

  private void rollBack(Exception cause) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      cause.addSuppressed(e);
    }
  }

  @Override
  public PartitionWriter take(int partition) throws IOException {
    return new PostgresPartition(partition, this, feed);
  }

  @Override
  public boolean storesAhead() {
    return true;
  }

  void release(int partition) throws IOException {
    settle();
    try {
      if (!connection.isClosed()) {
        schema.unlockPartition(connection, partition);
        connection.commit();
      }
    } catch (SQLException e) {
      // The lock ends with the connection.
      close();
    }
  }

  /** Drops data older than the retention, at intervals; only once a message has set the time. */
  void expireIfDue() throws IOException {
    if (options.retention() == null || !retentionClock.isSet() || System.nanoTime() - nextExpiryNs < 0) {
      return;
    }
    long now = retentionMs();
    warnIfClocksDiffer();
    boolean[] isComplete = new boolean[1];
    long startNs = System.nanoTime();
    run("cannot drop old partitions of", () -> isComplete[0] = expiry.run(options.retention(), now));
    long endNs = System.nanoTime();
    nextExpiryNs = endNs + (isComplete[0] ? EXPIRY_INTERVAL_NS : EXPIRY_PAUSE * (endNs - startNs));
  }

  private void warnIfClocksDiffer() {
    long behindMs = clock.getAsLong() - lastBrokerMs;
    boolean isNews = warnedNs == 0 || System.nanoTime() - warnedNs > CLOCK_TOLERANCE_MS * 1_000_000;
    if (Math.abs(behindMs) > CLOCK_TOLERANCE_MS && isNews) {
      warnedNs = System.nanoTime();
      LOG.warn("the newest message that was read is {} s {} than this machine's clock: retention uses the earlier of "
          + "the two (is one of the clocks wrong, or is there a backlog?)", Math.abs(behindMs) / 1000,
          behindMs > 0 ? "older" : "newer");
    }
  }

  @Override
  public void close() throws IOException {
    settle();
    storer.shutdown();
    try {
      connection.close();
    } catch (SQLException e) {
      throw Database.translated("cannot close", options, e);
    }
  }
}
