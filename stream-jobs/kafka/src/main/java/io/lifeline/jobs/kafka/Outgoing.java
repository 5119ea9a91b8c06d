package io.lifeline.jobs.kafka;

/**
 * A record that leaves the first stage of the topology.
 *
 * @param topic topic of a result; null for a part
 * @param parts for a part: name of the second stage's input, see {@code TwoStagePlan.parts}; null for a result
 * @param value the bytes of the message
 */
record Outgoing(String topic, String parts, byte[] value) {

  static Outgoing result(String topic, byte[] value) {
    return new Outgoing(topic, null, value);
  }

  static Outgoing part(String parts, byte[] value) {
    return new Outgoing(null, parts, value);
  }
}
