package io.lifeline.jobs.core.summarise;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;

/**
 * One batch's contribution to one window of one summary, sent from the task that reads the batch to the task that
 * merges the window.
 *
 * @param windowStartNs the window's first nanosecond
 * @param key see {@link SummaryKey}; partials with equal keys must reach the same merger
 */
public record Partial(long windowStartNs, String key, Aggregate aggregate, Progress progress) {

  public byte[] toBytes() {
    StateWriter out = new StateWriter().version(1).zigzag(windowStartNs).text(key);
    aggregate.encode(out);
    progress.encode(out);
    return out.toBytes();
  }

  public static Partial fromBytes(byte[] bytes) {
    StateReader in = new StateReader(bytes).version(1);
    return new Partial(in.zigzag(), in.text(), Aggregate.decode(in), Progress.decode(in));
  }
}
