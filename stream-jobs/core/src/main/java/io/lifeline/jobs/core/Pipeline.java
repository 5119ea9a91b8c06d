package io.lifeline.jobs.core;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.RejectedBatchException;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Validates messages, absorbs duplicates, rejects conflicts and passes new batches to the jobs, in the same way on
 * every host. Used by one thread.
 */
public final class Pipeline {

  private static final String UNVERIFIABLE =
      "a batch with its sequence was received so long ago that it is unknown whether it was the same";

  private final Runnable removeGauge;
  private final StreamClock clock;
  private final RetentionClock retentionClock;
  private final Deduplicator deduplicator;
  private final Placement placement;
  private final List<Job> jobs;
  private final BatchReader reader = new BatchReader();
  private final Metrics.Counter batches;
  private final Metrics.Counter events;
  private final Rate eventRate = new Rate(System::nanoTime);
  private final Metrics.Counter duplicates;
  private final Metrics.Counter rejected;
  private final Metrics.Counter expired;
  private final Metrics.Counter gaps;

  /**
   * @param task identifies the host's task in metric labels
   * @param retentionMs how long a silent emitter is remembered: as long as the broker keeps its batches
   * @param placement batches that belong to another task are rejected
   */
  public Pipeline(
      String task, KeyedState state, long retentionMs, Placement placement, List<Job> jobs, Metrics metrics) {
    this(task, state, retentionMs, placement, jobs, metrics, System::nanoTime);
  }

  /** @param nanoTime usually {@code System::nanoTime} */
  Pipeline(
      String task,
      KeyedState state,
      long retentionMs,
      Placement placement,
      List<Job> jobs,
      Metrics metrics,
      LongSupplier nanoTime) {
    this.clock = new StreamClock(state, nanoTime);
    this.retentionClock = new RetentionClock(state, nanoTime);
    this.deduplicator =
        new Deduplicator(
            state,
            retentionMs,
            metrics.counter(
                "lifeline_sequences_forgotten_total",
                "Sequences forgotten because their route has too many gaps.",
                "task",
                task));
    this.placement = placement;
    this.jobs = List.copyOf(jobs);
    this.batches = metrics.counter("lifeline_batches_total", "Batches accepted.", "task", task);
    this.events = metrics.counter("lifeline_events_total", "Events in accepted batches.", "task", task);
    this.removeGauge = metrics.gauge(
        "lifeline_events_per_second",
        "Events in accepted batches, over the last ten seconds.",
        eventRate::perSecond,
        "task",
        task);
    this.duplicates = metrics.counter("lifeline_duplicates_total", "Repeated batches absorbed.", "task", task);
    this.rejected =
        metrics.counter("lifeline_rejected_total", "Corrupt, conflicting or misplaced messages.", "task", task);
    this.expired = metrics.counter("lifeline_expired_total", "Messages that retention removed unread.", "task", task);
    this.gaps =
        metrics.counter(
            "lifeline_expired_gaps_total", "Number of times that retention removed messages before they were "
                + "read.", "task", task);
  }

  public void accept(byte[] message, Position position, Output output) {
    observe(position);
    try {
      reader.read(message, 0, message.length);
    } catch (RejectedBatchException e) {
      reject(Rejection.of(position, e), output);
      return;
    }
    RouteKey route = RouteKey.of(reader);
    String elsewhere = placement.elsewhere(route.incarnation(), position);
    if (elsewhere != null) {
      reject(Rejection.misplaced(position, elsewhere, route, reader.sequence()), output);
      return;
    }
    switch (deduplicator.check(route, reader.sequence(), reader.crc(), retentionClock.nowMs())) {
      case NEW -> {
        if (reader.isFinal()) {
          deduplicator.ends(route, reader.sequence());
        }
        batches.increment();
        events.add(reader.eventCount());
        eventRate.add(reader.eventCount());
        for (Job job : jobs) {
          reader.rewind();
          job.accept(reader, position, output);
        }
      }
      case DUPLICATE -> {
        duplicates.increment();
        for (Job job : jobs) {
          job.duplicate(reader, position);
        }
      }
      case CONFLICT ->
          reject(identified(position, "conflict", "another batch has the same sequence", route), output);
      case UNKNOWN -> reject(identified(position, "unverifiable", UNVERIFIABLE, route), output);
    }
  }

  /** Rejects a message that the host does not allow. */
  public void refuse(Rejection rejection, Output output) {
    observe(rejection.position());
    reject(rejection, output);
  }

  /**
   * See {@link Job#expired}.
   *
   * @param areOurs whether all messages at these positions were for this task; otherwise their number is unknown and
   *     they are not counted
   */
  public void expired(int partition, long from, long to, boolean areOurs) {
    gaps.increment();
    expired.add(areOurs ? to - from : 0);
    for (Job job : jobs) {
      job.expired(partition, from, to);
    }
  }

  /** See {@link Job#isDue}. */
  public boolean isDue() {
    if (!clock.isSet()) {
      return false;
    }
    long nowMs = clock.nowMs();
    return jobs.stream().anyMatch(job -> job.isDue(nowMs));
  }

  /** Passes the current time to the jobs; to be called about every second, even without input. */
  public void punctuate(Output output) {
    if (!clock.isSet()) {
      return;
    }
    long nowMs = clock.nowMs();
    long retentionMs = retentionClock.nowMs();
    deduplicator.expire(retentionMs);
    for (Job job : jobs) {
      job.punctuate(nowMs, output);
      job.forget(retentionMs);
    }
  }

  /** See {@link Job#save}. */
  public void save() {
    clock.save();
    retentionClock.save();
    deduplicator.save();
    for (Job job : jobs) {
      job.save();
    }
  }

  /** Removes this pipeline's gauge; another pipeline may have replaced it. */
  public void close() {
    removeGauge.run();
  }

  private void observe(Position position) {
    clock.observe(position.brokerTimeMs());
    retentionClock.observe(position.brokerTimeMs());
  }

  private Rejection identified(Position position, String code, String message, RouteKey route) {
    return Rejection.of(position, code, message, route, reader.sequence());
  }

  private void reject(Rejection rejection, Output output) {
    rejected.increment();
    rejection.send(output);
  }
}
