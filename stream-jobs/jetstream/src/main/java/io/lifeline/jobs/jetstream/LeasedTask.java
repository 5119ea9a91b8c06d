package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.StateReader.NewerStateException;
import io.nats.client.JetStreamApiException;
import java.io.IOException;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A task that one instance runs at a time while the others stand by. */
abstract class LeasedTask extends Task {

  /** Another process holds what the work needs, although this instance has the lease. */
  static final class HeldException extends Exception {
    HeldException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  private static final Logger LOG = LoggerFactory.getLogger(LeasedTask.class);
  private static final long MAX_STANDBY_POLL_MS = 1000;

  private final Broker broker;
  private final String leaseName;
  private final Duration leaseLength;
  private final ShardQuota turn;
  private final Lag lag;
  private String held;

  /**
   * @param leaseName the same in all instances that share the work
   * @param turn decides when this instance tries to acquire the lease and when it releases it
   */
  LeasedTask(
      String name,
      Broker broker,
      String leaseName,
      Duration leaseLength,
      ShardQuota turn,
      Metrics metrics,
      CompletableFuture<Throwable> failure) {
    super(name, failure);
    this.lag = new Lag(metrics, name);
    this.turn = turn;
    this.broker = broker;
    this.leaseName = leaseName;
    this.leaseLength = leaseLength;
  }

  final Broker broker() {
    return broker;
  }

  final Lag lag() {
    return lag;
  }

  /** Works until {@link #isOver}, and keeps renewing the lease. */
  abstract void work(Lease lease, long epoch) throws IOException, JetStreamApiException, FatalException, HeldException;

  /**
   * Returns whether to shut down gracefully, either because the task stops or because another instance should take
   * over.
   */
  final boolean isOver() throws IOException, JetStreamApiException {
    return isStopping() || turn.isOver();
  }

  @Override
  final void session() throws IOException, JetStreamApiException, FatalException {
    broker.reopenIfClosed();
    Lease lease = new Lease(broker.bucket(), leaseName, broker.owner(), leaseLength, System::nanoTime);
    while (!isStopping()) {
      if (turn.take()) {
        try {
          OptionalLong epoch = lease.tryAcquire();
          if (epoch.isPresent()) {
            work(lease, epoch.getAsLong());
            lease.release();
            return;
          }
        } catch (HeldException e) {
          lease.release();
          if (!e.getMessage().equals(held)) {
            held = e.getMessage();
            LOG.warn("{}: standing by: {}", name(), held);
          }
        } catch (NewerStateException e) {
          lease.release();
          turn.withdraw();
          awaitReplacement(e);
          return;
        } finally {
          turn.end();
        }
      }
      standsBy();
      lag.reads(null);
      pause(Math.min(MAX_STANDBY_POLL_MS, leaseLength.toMillis() / 4));
    }
  }

  /** To a request for what was deleted the server sends no answer, which the client reports as a timeout. */
  @Override
  final String cause(Exception failure) {
    String missing = broker.missing();
    return missing == null ? failure.getMessage() : missing;
  }

  /** Does nothing until the end: an instance of the later release takes over, and must not wait for this one. */
  private void awaitReplacement(NewerStateException cause) {
    outdated(cause);
    while (!isStopping()) {
      pause(MAX_STANDBY_POLL_MS);
    }
  }
}
