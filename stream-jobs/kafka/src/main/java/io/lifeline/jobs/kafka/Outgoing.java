package io.lifeline.jobs.kafka;

import io.lifeline.jobs.core.summarise.Partial;

/**
 * What leaves the first half of the topology: a result for a topic of its own, or a share in a window that is on its
 * way to the second half.
 *
 * @param topic where a result goes; null for a share in a window
 * @param value the bytes of the message
 */
record Outgoing(String topic, byte[] value) {

  static Outgoing result(String topic, byte[] value) {
    return new Outgoing(topic, value);
  }

  static Outgoing partial(Partial partial) {
    return new Outgoing(null, partial.toBytes());
  }

  boolean isPartial() {
    return topic == null;
  }
}
