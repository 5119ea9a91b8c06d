package io.lifeline.console.archive;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.lifeline.console.access.Shares;
import io.lifeline.jobs.archive.sql.ArchiveLocation;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Processes that answer questions about the archive: a few at once, of which one caller gets a part. A process is used
 * again after an answer, and one is kept ready.
 */
public final class Workers implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Workers.class);
  private static final int MOST = 4;
  private static final int MOST_PER_CALLER = 2;
  private static final long TURN_MS = 10_000;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final String main;
  private final ArchiveWorker.Setup setup;
  private final long limitMs;
  private final Shares places = new Shares(MOST, MOST_PER_CALLER);
  private final ScheduledExecutorService watch = Executors.newScheduledThreadPool(2, work -> {
    Thread thread = new Thread(work, "lifeline-archive-limit");
    thread.setDaemon(true);
    return thread;
  });
  private final Deque<WorkerProcess> idle = new ArrayDeque<>();
  private boolean isClosed;

  /**
   * @param main class whose main method calls {@link ArchiveWorker#serve}
   * @param memoryBytes of DuckDB in each process
   * @param limitMs time for a question
   */
  public Workers(String main, ArchiveLocation location, long memoryBytes, long limitMs) {
    this.main = main;
    this.setup = new ArchiveWorker.Setup(location, memoryBytes, limitMs);
    this.limitMs = limitMs;
    Thread first = new Thread(this::startFirst, "lifeline-archive-start");
    first.setDaemon(true);
    first.start();
  }

  private void startFirst() {
    try {
      giveBack(WorkerProcess.start(main, setup, watch));
    } catch (IOException e) {
      LOG.error("{}", e.getMessage()); // those who ask see it, too
    }
  }

  /**
   * Asks a question.
   *
   * @param caller who gets a share of the processes; null for somebody who may have all
   */
  public Answer ask(String caller, String question, Object arguments) throws QuestionException {
    try (Shares.Place place = places.take(caller, TURN_MS)) {
      if (place == null) {
        throw new QuestionException(503, "other questions to the archive have been running for " + TURN_MS / 1000
            + " s: try again when they have ended");
      }
      WorkerProcess worker = take();
      try {
        return worker.ask(new ArchiveWorker.Request(question, JSON.valueToTree(arguments)), limitMs);
      } finally {
        giveBack(worker);
      }
    } catch (IOException e) {
      throw new QuestionException(503, e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new QuestionException(503, "interrupted while waiting for other questions to the archive");
    }
  }

  private WorkerProcess take() throws IOException {
    synchronized (this) {
      while (!idle.isEmpty()) {
        WorkerProcess worker = idle.removeLast();
        if (worker.isUsable()) {
          return worker;
        }
        worker.close();
      }
    }
    return WorkerProcess.start(main, setup, watch);
  }

  private synchronized void giveBack(WorkerProcess worker) {
    if (!worker.isUsable() || isClosed) {
      worker.close();
    } else {
      idle.addLast(worker);
    }
  }

  @Override
  public synchronized void close() {
    isClosed = true;
    idle.forEach(WorkerProcess::close);
    idle.clear();
    watch.shutdown();
  }
}
