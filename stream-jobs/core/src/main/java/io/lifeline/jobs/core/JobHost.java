package io.lifeline.jobs.core;

import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * Runs the configured jobs on one kind of broker. The command starts, monitors and stops it. It is created from a
 * configuration and the process's metrics; creating it has no side effects.
 */
public interface JobHost extends AutoCloseable {

  /**
   * Connects, checks the prerequisites, and starts the jobs. Returns when the jobs run.
   *
   * @throws HostException with the cause and the remedy
   */
  void start() throws HostException;

  /**
   * Returns the status of each component by its name: {@code running}, {@code standby} (another instance does the
   * work), or the error.
   */
  Map<String, String> health();

  /** Completes with the cause when the host cannot continue; the host must then be closed. */
  CompletionStage<Throwable> failure();

  /** Shuts down gracefully: publishes the archive's buffered events, writes checkpoints, releases leases. */
  @Override
  void close();

  /** Thrown if a host cannot run; the message is meant for users. */
  final class HostException extends Exception {
    public HostException(String message) {
      super(message);
    }

    public HostException(String message, Throwable cause) {
      super(message, cause);
    }
  }
}
