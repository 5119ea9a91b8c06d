package io.lifeline.jobs.core.summarise;

import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;

/**
 * How far an emitter has come, which moves the watermark.
 *
 * @param newestNs time of its newest event that is not skewed, or a guess if the batch has none
 * @param brokerTimeMs when the broker took the batch
 * @param isFinal whether the emitter will send no more
 */
public record Progress(RouteKey emitter, long newestNs, long brokerTimeMs, boolean isFinal) {

  /** Of two of the same emitter: how far it has come by both. */
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
