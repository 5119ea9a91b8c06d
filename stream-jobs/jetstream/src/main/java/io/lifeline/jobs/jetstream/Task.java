package io.lifeline.jobs.jetstream;

import io.nats.client.JetStreamApiException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A part of the host's work with a thread of its own. What goes wrong with the broker ends a session, and the next one
 * starts from what is durable; so no error needs handling anywhere else.
 */
abstract class Task implements Runnable {

  /** The work cannot go on by itself. */
  static final class FatalException extends Exception {
    FatalException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  private static final Logger LOG = LoggerFactory.getLogger(Task.class);
  private static final long RETRY_MS = 1000;

  static final String STARTING = "starting";
  static final String RUNNING = "running";
  static final String STANDBY = "standby";

  private final String name;
  private final CompletableFuture<Throwable> failure;
  private volatile boolean stopping;
  private volatile String status = STARTING;
  private boolean hasFailed;

  /** @param failure is completed when the task cannot go on */
  Task(String name, CompletableFuture<Throwable> failure) {
    this.name = name;
    this.failure = failure;
  }

  final String name() {
    return name;
  }

  final String status() {
    return status;
  }

  final void status(String newStatus) {
    status = newStatus;
  }

  /** A session begins. After a failure the task is well again only when it has shown so, see {@link #works}. */
  final void begins() {
    if (!hasFailed) {
      status = RUNNING;
    }
  }

  /** Something became durable, or there is nothing to do. */
  final void works() {
    hasFailed = false;
    status = RUNNING;
  }

  /** Whether the last session failed and this one has not shown yet that it {@link #works}. */
  final boolean isFailing() {
    return hasFailed;
  }

  /** Another instance does the work. */
  final void standsBy() {
    hasFailed = false;
    status = STANDBY;
  }

  final boolean isStopping() {
    return stopping;
  }

  /** Asks the task to end in good order. */
  final void stop() {
    stopping = true;
  }

  /** Works until {@link #isStopping}; returns early when it is another instance's turn. */
  abstract void session() throws IOException, JetStreamApiException, FatalException;

  @Override
  public final void run() {
    while (!stopping) {
      try {
        session();
      } catch (Lease.LostException e) {
        LOG.warn("{}: {}", name, e.getMessage());
      } catch (InterruptedIOException e) {
        stopping = true;
      } catch (IOException | JetStreamApiException | IllegalStateException e) {
        hasFailed = true;
        status = "retrying: " + e.getMessage();
        LOG.warn("{}: {}; trying again from the last checkpoint", name, e.getMessage());
        pause(RETRY_MS);
      } catch (FatalException | RuntimeException | Error e) {
        status = "failed: " + e.getMessage();
        LOG.error("{}: cannot go on: {}", name, e.toString());
        LOG.debug("{}", name, e);
        failure.complete(e);
        return;
      }
    }
    status = "stopped";
  }

  /** Waits, though not beyond {@link #stop}. */
  final void pause(long ms) {
    long end = System.nanoTime() + ms * 1_000_000;
    while (!stopping && System.nanoTime() < end) {
      try {
        Thread.sleep(Math.min(50, ms));
      } catch (InterruptedException e) {
        stopping = true;
      }
    }
  }
}
