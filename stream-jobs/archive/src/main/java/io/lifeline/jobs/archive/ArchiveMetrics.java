package io.lifeline.jobs.archive;

import io.lifeline.jobs.core.Metrics;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.Rejection;
import java.util.HashMap;
import java.util.Map;

/** A host's metrics of its archive: each message counts once, even if it is read again because it was not stored. */
public final class ArchiveMetrics {
  private final Metrics.Counter batches;
  private final Metrics.Counter events;
  private final Metrics.Counter duplicates;
  private final Metrics.Counter rejected;
  private final Map<Integer, Long> read = new HashMap<>();
  private Map<Integer, Long> readBefore = Map.of();

  public ArchiveMetrics(Metrics metrics, String task) {
    this.batches = metrics.counter("lifeline_batches_total", "Batches accepted.", "task", task);
    this.events = metrics.counter("lifeline_events_total", "Events in accepted batches.", "task", task);
    this.duplicates = metrics.counter("lifeline_duplicates_total", "Repeated batches absorbed.", "task", task);
    this.rejected = metrics.counter("lifeline_rejected_total", "Corrupt or conflicting messages.", "task", task);
  }

  /** Starts over with a new writer, which reads from the archive's end again. */
  public void startOver() {
    readBefore = Map.copyOf(read);
  }

  public void count(Position position, Appended appended) {
    if (isNew(position)) {
      switch (appended) {
        case ACCEPTED -> batches.increment();
        case DUPLICATE -> duplicates.increment();
        case REJECTED, ALREADY_ARCHIVED -> {}
      }
    }
    read.merge(position.partition(), position.offset(), Math::max);
  }

  public void count(Rejection rejection) {
    if (isNew(rejection.position())) {
      rejected.increment();
    }
  }

  public void count(ArchiveFeed.Stored stored) {
    events.add(stored.events());
  }

  private boolean isNew(Position position) {
    return position.offset() > readBefore.getOrDefault(position.partition(), -1L);
  }
}
