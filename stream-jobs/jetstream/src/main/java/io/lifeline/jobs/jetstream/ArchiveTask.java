package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.archive.Archive;
import io.lifeline.jobs.archive.ArchiveCollisionException;
import io.lifeline.jobs.archive.ArchiveFeed;
import io.lifeline.jobs.archive.ArchiveMetrics;
import io.lifeline.jobs.archive.ArchiveWatch;
import io.lifeline.jobs.archive.ArchiveWriter;
import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import io.lifeline.jobs.core.signing.Signatures;
import io.nats.client.JetStreamApiException;
import io.nats.client.api.KeyValueEntry;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Copies the whole stream into the archive, as its partition 0. The archive stores its own end position, so there is no
 * checkpoint. The lease belongs to the archive: of several instances with one archive, one writes and the others stand
 * by. If two of them overlap, the archive rejects the later one.
 */
final class ArchiveTask extends LeasedTask {

  static final String NAME = "archive";
  private static final int PARTITION = 0;
  private static final Duration POLL = Duration.ofMillis(100);
  private static final Duration IDLE_POLL = Duration.ofMillis(250);

  private final Archive target;
  private final String[] subjects;
  private final boolean readsAll;
  private final String prefix;
  private final Signatures signatures;
  private final Metrics metrics;
  private final ArchiveMetrics counts;
  private final Metrics.Counter expired;
  private final ArchiveWatch watch;
  private volatile long nextSequence;

  /** @param readsAll whether the stream holds only these subjects, so that a gap in its sequences is a lost message */
  ArchiveTask(
      Broker broker,
      Archive target,
      String[] subjects,
      boolean readsAll,
      String prefix,
      Duration rollInterval,
      Duration lease,
      Signatures signatures,
      Metrics metrics,
      CompletableFuture<Throwable> failure) {
    super(NAME, broker, leaseName(target), lease, ShardQuota.ALWAYS, metrics, failure);
    this.target = target;
    this.subjects = subjects;
    this.readsAll = readsAll;
    this.prefix = prefix;
    this.signatures = signatures;
    this.expired =
        metrics.counter("lifeline_expired_total", "Messages that retention removed unread.", "task", NAME);
    this.metrics = metrics;
    this.watch = new ArchiveWatch(target, rollInterval);
    this.counts = new ArchiveMetrics(metrics, NAME);
    // Also between sessions: it grows while they fail.
    metrics.gauge("lifeline_unstored_seconds", "Time that read messages have been waiting to be stored.",
        watch::secondsSinceStored, "task", NAME);
  }

  /** Rejections are acknowledged by the broker before the archive moves its end past the messages. */
  private ArchiveFeed feed(Publisher publisher) {
    return new ArchiveFeed() {
      @Override
      public void reject(Rejection rejection) {
        rejection.send(publisher);
        counts.count(rejection);
      }

      @Override
      public void beforeStoring() throws IOException {
        publisher.awaitAcknowledgements();
      }

      @Override
      public String source(int partition) throws IOException {
        try {
          StreamBounds bounds = StreamBounds.of(broker().batches());
          return "stream " + bounds.name() + " made at " + bounds.made();
        } catch (JetStreamApiException e) {
          throw new IOException("the stream cannot be looked at: " + e.getMessage(), e);
        }
      }

      @Override
      public void stored(Stored what) {
        counts.count(what);
        watch.stored();
        works();
      }
    };
  }

  @Override
  String trouble() {
    return watch.trouble();
  }

  @Override
  void work(Lease lease, long epoch) throws IOException, JetStreamApiException, FatalException, HeldException {
    Publisher publisher = new Publisher(broker().jetStream(), prefix, name());
    counts.startOver();
    watch.alive(isFailing());
    ArchiveWriter archive = target.open(feed(publisher));
    List<Runnable> gauges = new ArrayList<>();
    boolean finished = false;
    try {
      long next = Math.max(1, firstOffset(archive));
      StreamBounds bounds = StreamBounds.of(broker().batches());
      bounds.requirePosition(next, next > 1 ? streamMade() : StreamBounds.UNKNOWN);
      archive.checkEnd(PARTITION, bounds.last() + 1);
      broker().bucket().put(streamKey(), bounds.made().toString());
      if (next > 1 && bounds.first() > next) {
        expired.add(bounds.first() - next);
      }
      next = Math.max(next, bounds.first());
      nextSequence = next;
      // The archive compares the message before its end with its own.
      long start = Math.max(1, Math.max(archive.comparableOffset(PARTITION), bounds.first()));
      gauges.add(
          metrics.gauge(
              "lifeline_next_position", "First position not yet processed.", () -> nextSequence, "task", NAME));
      gauges.add(
          metrics.gauge("lifeline_archive_damages", "Damages that the last maintenance of the archive found.",
              () -> target.damages().size(), "task", NAME));
      try (BatchStream stream = BatchStream.open(broker(), broker().batches(), bounds.made(), subjects, start, 0)) {
        lag().reads(stream);
        begins();
        copy(stream, archive, lease);
      }
      archive.close();
      finished = true;
    } catch (TruncatedStreamException e) {
      archive.refuse(PARTITION, e.what());
    } catch (ArchiveCollisionException e) {
      // If another instance took the lease, renewal throws and this one stands by; otherwise the other writer is
      // unknown.
      lease.renew();
      throw new FatalException(e.getMessage(), e);
    } finally {
      gauges.forEach(Runnable::run);
      if (!finished) {
        archive.abandon();
      }
    }
  }

  /** A process that was stopped for longer than the lease still holds the archive's lock. */
  private static long firstOffset(ArchiveWriter archive) throws IOException, HeldException {
    try {
      return archive.nextOffset(PARTITION);
    } catch (ArchiveCollisionException e) {
      throw new HeldException(e.getMessage(), e);
    }
  }

  /**
   * Returns the creation time of the stream that the archive's position belongs to. Only needed for archives of earlier
   * releases: archives now store it themselves, see {@link ArchiveFeed#source}.
   */
  private Instant streamMade() throws IOException, JetStreamApiException {
    KeyValueEntry entry = broker().bucket().get(streamKey());
    return entry == null ? StreamBounds.UNKNOWN : Instant.parse(entry.getValueAsString());
  }

  private String streamKey() {
    return leaseName(target) + ".stream";
  }

  private static String leaseName(Archive target) {
    return NAME + "-" + Integer.toHexString(target.name().hashCode());
  }

  private void copy(BatchStream stream, ArchiveWriter archive, Lease lease) throws IOException, JetStreamApiException {
    while (!isStopping()) {
      watch.alive(!archive.isStored() || isFailing());
      lease.renewIfDue();
      BatchStream.Received received = stream.next(archive.isStored() ? IDLE_POLL : POLL);
      if (received != null) {
        Position position = received.position();
        Rejection refusal = signatures.refusal(position, received.data(), received.signature());
        long sequence = position.offset();
        if (readsAll && nextSequence > 1 && sequence > nextSequence) {
          expired.add(sequence - nextSequence);
        }
        counts.count(position, archive.append(position, received.data(), refusal));
        nextSequence = Math.max(nextSequence, sequence + 1);
      } else if (isFailing() && archive.isStored() && stream.isAtEnd()) {
        works();
      }
      archive.rollIfDue(System.nanoTime());
    }
  }
}
