package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.RepeatedFailure;
import io.nats.client.JetStreamApiException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A part of the host's work with its own thread. A broker error ends the session, and the next session resumes from
 * durable state; so broker errors need no other handling.
 */
abstract class Task implements Runnable {

  /** An error that the task cannot recover from. */
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
  static final String OUTDATED = "outdated";

  private final String name;
  private final CompletableFuture<Throwable> failure;
  private final RepeatedFailure repeated = new RepeatedFailure();
  private volatile boolean stopping;
  private volatile String status = STARTING;
  private boolean hasFailed;

  /** @param failure completed when the task cannot continue */
  Task(String name, CompletableFuture<Throwable> failure) {
    this.name = name;
    this.failure = failure;
  }

  final String name() {
    return name;
  }

  final String status() {
    String now = status;
    String trouble = now.equals(RUNNING) ? trouble() : null;
    return trouble == null ? now : trouble;
  }

  /** Returns the status of a task that reports no error and is not healthy; null otherwise. */
  String trouble() {
    return null;
  }

  /** Returns why a session failed, in an operator's words. */
  String cause(Exception failure) {
    return failure.getMessage();
  }

  final void status(String newStatus) {
    status = newStatus;
  }

  /** Marks the start of a session. After a failure the task counts as healthy only after {@link #works}. */
  final void begins() {
    if (!hasFailed) {
      status = RUNNING;
    }
  }

  /** Marks the task healthy: something became durable, or there is nothing to do. */
  final void works() {
    succeeds();
    status = RUNNING;
  }

  /** Returns whether the last session failed and this one has not yet called {@link #works}. */
  final boolean isFailing() {
    return hasFailed;
  }

  /** Marks the task as standby: another instance does the work. */
  final void standsBy() {
    succeeds();
    status = STANDBY;
  }

  private void succeeds() {
    hasFailed = false;
    repeated.ends();
  }

  /** Marks the task as idle: a later release has written its state, and works on it if an instance of it runs. */
  final void outdated(RuntimeException cause) {
    status = OUTDATED + ": " + cause.getMessage();
    LOG.error("{}: idle, until this instance is replaced: {}", name, cause.getMessage());
  }

  final boolean isStopping() {
    return stopping;
  }

  /** Asks the task to shut down gracefully. */
  final void stop() {
    stopping = true;
  }

  /** Works until {@link #isStopping}; returns early when another instance should take over. */
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
        String cause = cause(e);
        status = "retrying: " + cause;
        if (repeated.isNews(status)) {
          LOG.warn("{}: {}; trying again from the last checkpoint", name, cause);
        }
        pause(RETRY_MS);
      } catch (Throwable e) { // a library may throw a checked exception that it does not declare
        status = "failed: " + e.getMessage();
        LOG.error("{}: cannot go on: {}", name, e.toString());
        LOG.debug("{}", name, e);
        failure.complete(e);
        return;
      }
    }
    status = "stopped";
  }

  /** Waits, but not beyond {@link #stop}. */
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
