package io.lifeline.jobs.core;

import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * Runs the configured jobs on one kind of broker: what the command starts, watches and stops. Made from a configuration
 * and the process's metrics; making it touches nothing.
 */
public interface JobHost extends AutoCloseable {

  /**
   * Connects, checks that everything needed is there, and starts to work. Returns when the jobs run.
   *
   * @throws HostException with a sentence that says what to do
   */
  void start() throws HostException;

  /**
   * How the parts are: the name of each with {@code running}, {@code standby} (another instance does the work), or what
   * is wrong.
   */
  Map<String, String> health();

  /** Completes with the reason when the host cannot go on by itself; after that it only wants to be closed. */
  CompletionStage<Throwable> failure();

  /** Ends in good order: the archive publishes what it holds, checkpoints are written, leases given back. */
  @Override
  void close();

  /** What keeps a host from running, for people. */
  final class HostException extends Exception {
    public HostException(String message) {
      super(message);
    }

    public HostException(String message, Throwable cause) {
      super(message, cause);
    }
  }
}
