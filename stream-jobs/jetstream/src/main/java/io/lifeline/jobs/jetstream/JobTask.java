package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.KeyedState;
import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.Metrics;
import io.nats.client.JetStreamApiException;
import io.nats.client.KeyValue;
import io.nats.client.StreamContext;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * One job over one group of subjects: holds the lease, resumes from the checkpoint, and advances checkpoint and output
 * together.
 *
 * <ol>
 *   <li>Results whose content depends only on the input are sent at once, and acknowledged before the checkpoint.
 *   <li>The checkpoint holds position, state, and the results whose content depends on timing.
 *   <li>Those are sent once it is written, and acknowledged before the next one.
 * </ol>
 *
 * So every message that is repeated after a crash has the same ID and content as the original.
 */
final class JobTask extends LeasedTask {

  /** Settings of a task. */
  record Settings(Duration lease, Duration checkpointInterval, int checkpointBatches, String prefix) {}

  /**
   * The input of a task.
   *
   * @param stream in the current connection
   * @param isAll whether the stream holds only these subjects, so that a gap in its sequences means lost messages
   */
  record Source(Function<Broker, StreamContext> stream, String[] subjects, boolean isAll) {}

  /** Creates a session's intake from the state in the checkpoint. */
  @FunctionalInterface
  interface Intakes {
    /** @param life ID of the bucket, see {@link Buckets#life} */
    Intake over(KeyedState state, String life);
  }

  private static final Duration IDLE_POLL = Duration.ofMillis(250);

  private final Source source;
  private final Settings settings;
  private final Intakes intakes;
  private final Metrics metrics;
  private final Metrics.Counter checkpoints;
  private volatile long nextSequence;
  private long behind;

  JobTask(
      String name,
      Broker broker,
      Source source,
      ShardQuota turn,
      Settings settings,
      Intakes intakes,
      Metrics metrics,
      CompletableFuture<Throwable> failure) {
    super(name, broker, name, settings.lease(), turn, metrics, failure);
    this.source = source;
    this.settings = settings;
    this.intakes = intakes;
    this.checkpoints = metrics.counter("lifeline_checkpoints_total", "Checkpoints written.", "task", name);
    this.metrics = metrics;
  }

  @Override
  void work(Lease lease, long epoch) throws IOException, JetStreamApiException {
    Broker broker = broker();
    CheckpointStore store = checkpoints(broker.bucket());
    Checkpoint start = store.takeOver(epoch);
    MemoryState state = start.state();
    SpilledState spilled = new SpilledState(state, broker.connection(), broker.bucket(), name(), epoch);
    String life = Buckets.life(broker.bucket());
    Publisher publisher = new Publisher(broker.jetStream(), settings.prefix(), life + ":" + name());
    publisher.publishAll(start.outbox());
    Intake intake = intakes.over(spilled, life);
    long next = start.nextSequence();
    StreamContext input = source.stream().apply(broker);
    StreamBounds bounds = StreamBounds.of(input);
    bounds.requirePosition(next, start.streamMade());
    long first = bounds.first();
    long lastTimeMs = start.lastTimeMs();
    if (first > next) {
      intake.expired(next, first, source.isAll());
      next = first;
      lastTimeMs = 0;
    }
    nextSequence = next;
    Runnable gauge = metrics.gauge(
        "lifeline_next_position", "First position not yet processed.", () -> nextSequence, "task", name());
    try (BatchStream stream = BatchStream.open(broker, input, bounds.made(), source.subjects(), next, lastTimeMs)) {
      lag().reads(stream);
      begins();
      int batches = 0;
      long checkpointedNs = System.nanoTime();
      EarlyCheckpoint early = new EarlyCheckpoint(checkpointedNs);
      while (!isOver()) {
        BatchStream.Received received = stream.next(batches > 0 ? EarlyCheckpoint.LOOK : IDLE_POLL);
        if (received != null) {
          long sequence = received.position().offset();
          if (source.isAll() && sequence > next) {
            intake.expired(next, sequence, true);
          }
          intake.accept(received, publisher);
          behind = received.behind();
          next = sequence + 1;
          lastTimeMs = received.position().brokerTimeMs();
          nextSequence = next;
          batches++;
        }
        long nowNs = System.nanoTime();
        boolean isDue = nowNs - checkpointedNs >= settings.checkpointInterval().toNanos()
            || batches > 0 && !isInBacklog() && early.isTime(nowNs, intake::isDue);
        lease.renewIfDue();
        if (isDue || batches >= settings.checkpointBatches()) {
          intake.punctuate(publisher);
          if (batches > 0 || publisher.hasOutbox()) {
            checkpoint(intake, publisher, store, bounds.made(), next, lastTimeMs, state);
            spilled.spill(lease::renewIfDue);
          } else {
            // Without input there is no further checkpoint, so the messages sent after the last one are awaited here.
            publisher.awaitAcknowledgements();
            if (isFailing() && stream.isAtEnd()) {
              works();
            }
          }
          batches = 0;
          checkpointedNs = System.nanoTime();
        }
      }
      intake.punctuate(publisher);
      checkpoint(intake, publisher, store, bounds.made(), next, lastTimeMs, state);
      spilled.spill(lease::renewIfDue);
      publisher.awaitAcknowledgements();
    } finally {
      gauge.run();
      intake.close();
    }
  }

  /** In a backlog the number of batches triggers the checkpoints, and nobody waits for a window of the past. */
  private boolean isInBacklog() {
    return behind >= settings.checkpointBatches();
  }

  private CheckpointStore checkpoints(KeyValue bucket) throws IOException, JetStreamApiException {
    long maxBytes = Buckets.maxValueBytes(bucket, broker().management(), broker().maxMessageBytes());
    return new CheckpointStore(bucket, broker().management(), name(), maxBytes);
  }

  /** Returns whether another bucket has a checkpoint of this task and stream, and its own bucket has none. */
  boolean isLeftIn(KeyValue other) throws IOException, JetStreamApiException {
    if (checkpoints(broker().bucket()).exists()) {
      return false;
    }
    Checkpoint left = checkpoints(other).look();
    return left != null && left.streamMade().equals(StreamBounds.of(source.stream().apply(broker())).made());
  }

  private void checkpoint(
      Intake intake, Publisher publisher, CheckpointStore store, Instant streamMade, long next, long lastTimeMs,
      MemoryState state)
      throws IOException, JetStreamApiException {
    intake.save();
    publisher.awaitAcknowledgements();
    List<OutgoingMessage> outbox = publisher.takeOutbox();
    store.write(new Checkpoint(streamMade, next, lastTimeMs, state, outbox));
    checkpoints.increment();
    works();
    publisher.publishAll(outbox);
  }
}
