package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.bottleneck.Sample;
import io.lifeline.jobs.core.summarise.Partial;

/**
 * What leaves the first half of the topology: a result for a topic of its own, or something that is on its way to the
 * second half.
 *
 * @param kind where it goes
 * @param topic where a result goes; else null
 * @param value the bytes of the message
 */
record Outgoing(Kind kind, String topic, byte[] value) {

  /** The ways out of the first half. */
  enum Kind {
    RESULT,
    /** A share in a window of a summary. */
    PARTIAL,
    /** A sample of a component that may be a bottleneck. */
    SAMPLE
  }

  static Outgoing result(String topic, byte[] value) {
    return new Outgoing(Kind.RESULT, topic, value);
  }

  static Outgoing partial(Partial partial) {
    return new Outgoing(Kind.PARTIAL, null, partial.toBytes());
  }

  static Outgoing sample(Sample sample) {
    return new Outgoing(Kind.SAMPLE, null, sample.toBytes());
  }
}
