package io.lifeline.jobs.core.summarise;

import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;

/**
 * Progress of an emitter, which advances the watermark.
 *
 * @param newestNs time of its newest event that is not skewed, or an estimate if the batch has none
 * @param brokerTimeMs when the broker received the batch
 * @param isFinal whether the emitter will send no more
 */
public record Progress(RouteKey emitter, long newestNs, long brokerTimeMs, boolean isFinal) {

  /** Returns the maximum of both, for the same emitter. */
  Progress later(Progress other) {
    return new Progress(
        emitter,
        Math.max(newestNs, other.newestNs),
        Math.max(brokerTimeMs, other.brokerTimeMs),
        isFinal || other.isFinal);
  }

  void encode(StateWriter out) {
    out.text(emitter.toString()).fixed64(newestNs).varint(brokerTimeMs).fixed8(isFinal ? 1 : 0);
  }

  static Progress decode(StateReader in) {
    return new Progress(RouteKey.parse(in.text()), in.fixed64(), in.varint(), in.fixed8() == 1);
  }
}
