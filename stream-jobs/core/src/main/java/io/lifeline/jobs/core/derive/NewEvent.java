package io.lifeline.jobs.core.derive;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.BatchTooLargeException;
import io.lifeline.codec.BatchWriter;
import io.lifeline.codec.Calibration;
import io.lifeline.codec.EventType;
import java.util.List;

/**
 * An event that a job computes from others.
 *
 * @param values of the type's fields, as {@link BatchWriter#event} takes them
 */
public record NewEvent(EventType type, long timeNs, long thread, Object... values) {

  private static final long NS_PER_S = 1_000_000_000;

  /** Bits of a record's first word that hold the type's number; the others hold the tick. */
  private static final int TYPE_BITS = 16;

  /**
   * Writes events with the emitter and the context of a parent. Ticks are nanoseconds since the first event, since the
   * times of events from other batches may be far from the parent's.
   */
  public static BatchWriter write(BatchReader parent, List<NewEvent> events) {
    long zeroNs = events.isEmpty() ? 0 : events.get(0).timeNs();
    long errorNs = parent.header().calibrations().stream().mapToLong(Calibration::errorNs).max().orElse(0);
    BatchWriter writer =
        new BatchWriter()
            .host(parent.host())
            .program(parent.program())
            .pid(parent.pid())
            .ticks(0, NS_PER_S, true)
            .calibration(0, 0, zeroNs, errorNs, false);
    parent.header().contextPairs().forEach(pair -> writer.context(pair.getKey(), pair.getValue()));
    long thread = -1;
    for (NewEvent event : events) {
      if (thread != event.thread() || event == events.get(0)) {
        thread = event.thread();
        writer.thread(thread);
      }
      long tick = event.timeNs() - zeroNs;
      if (tick != tick << TYPE_BITS >> TYPE_BITS) {
        throw new BatchTooLargeException("a batch spans 39 hours before and after its first event");
      }
      writer.event(event.type(), tick, event.values());
    }
    return writer;
  }
}
