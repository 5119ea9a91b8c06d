package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;

/** A message to be published. */
record OutgoingMessage(String subject, String key, String id, byte[] value) {

  void encode(StateWriter out) {
    out.text(subject).text(key).text(id).blob(value);
  }

  static OutgoingMessage decode(StateReader in) {
    return new OutgoingMessage(in.text(), in.text(), in.text(), in.blob());
  }
}
