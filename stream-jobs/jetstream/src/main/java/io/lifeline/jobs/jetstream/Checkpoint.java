package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * All that a task needs to go on, as of one position.
 *
 * @param nextSequence the first stream sequence that is not accounted for in the state
 * @param outbox messages whose content depends on when they were made: they are sent, or sent again, from here
 */
record Checkpoint(long nextSequence, MemoryState state, List<OutgoingMessage> outbox) {

  static Checkpoint initial() {
    return new Checkpoint(1, new MemoryState(), List.of());
  }

  byte[] encode() {
    StateWriter out = new StateWriter().version(1).varint(nextSequence);
    state.encode(out);
    out.varint(outbox.size());
    outbox.forEach(message -> message.encode(out));
    return out.toBytes();
  }

  static Checkpoint decode(byte[] bytes) {
    StateReader in = new StateReader(bytes).version(1);
    long nextSequence = in.varint();
    MemoryState state = MemoryState.decode(in);
    List<OutgoingMessage> outbox = new ArrayList<>();
    for (int left = in.count(3); left > 0; left--) {
      outbox.add(OutgoingMessage.decode(in));
    }
    return new Checkpoint(nextSequence, state, outbox);
  }
}
