package io.lifeline.console.events;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.EventType;
import io.lifeline.codec.RejectedBatchException;
import io.lifeline.jobs.core.filter.Filter;
import java.util.BitSet;
import java.util.IdentityHashMap;
import java.util.Map;

/** Finds the events of a filter in batches. Used by one thread. */
final class EventSelector {
  /** Gets the reader at an event. */
  @FunctionalInterface
  interface Sink {
    void accept(BatchReader event) throws InterruptedException;
  }

  private final EventFilter filter;
  private final Filter condition;
  private final BatchReader reader = new BatchReader();

  EventSelector(EventFilter filter) {
    this.filter = filter;
    this.condition = filter.condition == null ? null : new Filter(filter.condition);
  }

  /** Hands on the selected events of a batch, from the one with that index on. */
  void select(EventLog.Stored batch, int fromIndex, Sink sink) throws InterruptedException {
    if (!filter.programs.matches(batch.program()) || !filter.hosts.matches(batch.host())) {
      return;
    }
    read(batch);
    BitSet chosen = condition == null ? null : condition.choose(reader);
    reader.rewind();
    Map<EventType, Boolean> types = new IdentityHashMap<>();
    while (reader.next()) {
      int index = reader.eventIndex();
      if (index >= fromIndex && (chosen == null || chosen.get(index))
          && types.computeIfAbsent(reader.type(), type -> filter.types.matches(type.name()))) {
        sink.accept(reader);
      }
    }
  }

  private void read(EventLog.Stored batch) {
    try {
      reader.read(batch.data(), 0, batch.data().length);
    } catch (RejectedBatchException e) {
      throw new IllegalStateException("a batch that was accepted is rejected", e);
    }
  }
}
