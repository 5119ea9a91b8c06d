package io.lifeline.jobs.jetstream;

import io.nats.client.JetStreamApiException;
import java.io.IOException;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/** A task that one instance does at a time, while the others stand by. */
abstract class LeasedTask extends Task {

  private static final long MAX_STANDBY_POLL_MS = 1000;

  private final Broker broker;
  private final String leaseName;
  private final Duration leaseLength;

  /** @param leaseName equal in all instances that are to share the work */
  LeasedTask(
      String name, Broker broker, String leaseName, Duration leaseLength, CompletableFuture<Throwable> failure) {
    super(name, failure);
    this.broker = broker;
    this.leaseName = leaseName;
    this.leaseLength = leaseLength;
  }

  final Broker broker() {
    return broker;
  }

  /** Works until {@link #isStopping}, renewing the lease all the time. */
  abstract void work(Lease lease, long epoch) throws IOException, JetStreamApiException, FatalException;

  @Override
  final void session() throws IOException, JetStreamApiException, FatalException {
    Lease lease = new Lease(broker.bucket(), leaseName, broker.owner(), leaseLength, System::nanoTime);
    OptionalLong epoch = lease.tryAcquire();
    while (epoch.isEmpty() && !isStopping()) {
      status(STANDBY);
      pause(Math.min(MAX_STANDBY_POLL_MS, leaseLength.toMillis() / 4));
      epoch = lease.tryAcquire();
    }
    if (epoch.isPresent()) {
      work(lease, epoch.getAsLong());
      lease.release();
    }
  }
}
