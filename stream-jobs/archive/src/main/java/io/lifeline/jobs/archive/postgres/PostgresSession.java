package io.lifeline.jobs.archive.postgres;

import io.lifeline.jobs.archive.PartitionWriter;
import io.lifeline.jobs.archive.PartitionedWriter;
import io.lifeline.jobs.core.Rejection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * One connection, and what the partitions of a writer share on it. Used by one thread; it may have work done on another
 * one meanwhile, and everything else on the connection waits for that.
 */
final class PostgresSession implements PartitionedWriter.Backend {
  private static final long EXPIRY_INTERVAL_MS = 600_000;

  private final PostgresOptions options;
  private final Consumer<Rejection> rejections;
  private final Consumer<StoreStep> progress;
  private final LongSupplier clock;
  private final Connection connection;
  private final Schema schema;
  private final Catalog catalog;
  private final TimePartitions partitions;
  private final ExecutorService storer = Executors.newSingleThreadExecutor(PostgresSession::thread);
  private Task last;
  private long nextExpiryMs;

  /** Work on the connection. */
  interface Work {
    void run() throws SQLException, IOException;
  }

  /** Work that was begun. */
  static final class Task {
    private final CompletableFuture<Void> end;

    private Task(CompletableFuture<Void> end) {
      this.end = end;
    }

    /** Waits for its end, and fails as it did. */
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

  PostgresSession(PostgresOptions options, Consumer<Rejection> rejections, Consumer<StoreStep> progress,
      LongSupplier clock) throws IOException {
    this.options = options;
    this.rejections = rejections;
    this.progress = progress;
    this.clock = clock;
    this.connection = Database.connect(options);
    this.schema = new Schema(options);
    try {
      schema.create(connection);
      this.catalog = new Catalog(connection, schema);
      this.partitions = new TimePartitions(connection, schema, options.partition());
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

  Catalog catalog() {
    return catalog;
  }

  TimePartitions partitions() {
    return partitions;
  }

  long nowMs() {
    return clock.getAsLong();
  }

  void reached(StoreStep step) {
    progress.accept(step);
  }

  private static Thread thread(Runnable work) {
    Thread thread = new Thread(work, "archive-store");
    thread.setDaemon(true);
    return thread;
  }

  /** Runs the work; when it fails, rolls back and forgets what may have changed meanwhile. */
  void run(String doing, Work work) throws IOException {
    settle();
    runNow(doing, work);
  }

  /** As {@link #run}, on a thread of its own. Until it has ended, nothing that it uses may change. */
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

  /** Waits for work that was begun; whoever began it asks for its outcome. */
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
    return new PostgresPartition(partition, this, rejections);
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

  /** Drops what is older than the retention, now and then. */
  void expireIfDue() throws IOException {
    long now = nowMs();
    if (options.retention() != null && now >= nextExpiryMs) {
      run("cannot drop old partitions of", () -> partitions.expire(options.retention(), now));
      nextExpiryMs = now + EXPIRY_INTERVAL_MS;
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
