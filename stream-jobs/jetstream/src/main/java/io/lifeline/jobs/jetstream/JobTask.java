package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.Job;
import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Pipeline;
import io.nats.client.JetStreamApiException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * One job over one group of subjects: holds the lease, reads on from the checkpoint, and moves checkpoint and output
 * forward together.
 *
 * <ol>
 *   <li>Results whose content follows from the input leave at once, and are acknowledged before the checkpoint.
 *   <li>The checkpoint holds position, state, and the results whose content depends on timing.
 *   <li>Those leave once it is written, and are acknowledged before the next one.
 * </ol>
 *
 * So whatever is repeated after a crash has the id and the content of the first.
 */
final class JobTask extends LeasedTask {

  /** What a task needs from its host. */
  record Settings(
      String[] subjects,
      boolean allSubjects,
      Duration lease,
      Duration checkpointInterval,
      int checkpointBatches,
      long retentionMs,
      String prefix) {}

  private static final Duration POLL = Duration.ofMillis(100);

  private final Settings settings;
  private final Function<KeyedState, Job> job;
  private final Metrics metrics;
  private final Metrics.Counter checkpoints;
  private volatile long nextSequence;

  JobTask(
      String name,
      Broker broker,
      Settings settings,
      Function<KeyedState, Job> job,
      Metrics metrics,
      CompletableFuture<Throwable> failure) {
    super(name, broker, name, settings.lease(), failure);
    this.settings = settings;
    this.job = job;
    this.metrics = metrics;
    this.checkpoints = metrics.counter("lifeline_checkpoints_total", "Checkpoints written.", "task", name);
    metrics.gauge("lifeline_next_position", "First position not yet worked off.", () -> nextSequence, "task", name);
  }

  @Override
  void work(Lease lease, long epoch) throws IOException, JetStreamApiException {
    Broker broker = broker();
    CheckpointStore store =
        new CheckpointStore(broker.bucket(), broker.management(), name(), broker.maxMessageBytes());
    Checkpoint start = store.takeOver(epoch);
    MemoryState state = start.state();
    Publisher publisher = new Publisher(broker.jetStream(), settings.prefix());
    publisher.publishAll(start.outbox());
    Pipeline pipeline =
        new Pipeline(name(), state, settings.retentionMs(), List.of(job.apply(state)), metrics);
    long next = start.nextSequence();
    long first = BatchStream.firstSequence(broker.batches(), next);
    if (first > next) {
      pipeline.expired(0, next, first);
      next = first;
    }
    nextSequence = next;
    try (BatchStream stream = BatchStream.open(broker, settings.subjects(), next)) {
      status(RUNNING);
      int batches = 0;
      long checkpointedNs = System.nanoTime();
      while (!isStopping()) {
        BatchStream.Received received = stream.next(POLL);
        if (received != null) {
          long sequence = received.position().offset();
          if (settings.allSubjects() && sequence > next) {
            pipeline.expired(0, next, sequence);
          }
          pipeline.accept(received.data(), received.position(), publisher);
          next = sequence + 1;
          nextSequence = next;
          batches++;
        }
        boolean isDue = System.nanoTime() - checkpointedNs >= settings.checkpointInterval().toNanos();
        lease.renewIfDue();
        if (isDue || batches >= settings.checkpointBatches()) {
          pipeline.punctuate(publisher);
          if (batches > 0 || publisher.hasOutbox()) {
            checkpoint(pipeline, publisher, store, state, next);
          }
          batches = 0;
          checkpointedNs = System.nanoTime();
        }
      }
      checkpoint(pipeline, publisher, store, state, next);
      publisher.awaitAcknowledgements();
    }
  }

  private void checkpoint(
      Pipeline pipeline, Publisher publisher, CheckpointStore store, MemoryState state, long next)
      throws IOException, JetStreamApiException {
    pipeline.save();
    publisher.awaitAcknowledgements();
    List<OutgoingMessage> outbox = publisher.takeOutbox();
    store.write(new Checkpoint(next, state, outbox));
    checkpoints.increment();
    publisher.publishAll(outbox);
  }
}
