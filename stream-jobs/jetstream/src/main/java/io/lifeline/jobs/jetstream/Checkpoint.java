package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Everything a task needs to resume from one position.
 *
 * @param streamMade creation time of the stream that the position belongs to; see {@link StreamBounds}
 * @param nextSequence first stream sequence not yet included in the state
 * @param outbox messages whose content depends on timing: they are sent, or sent again, from here
 */
record Checkpoint(Instant streamMade, long nextSequence, MemoryState state, List<OutgoingMessage> outbox) {

  static Checkpoint initial() {
    return new Checkpoint(StreamBounds.UNKNOWN, 1, new MemoryState(), List.of());
  }

  byte[] encode() {
    StateWriter out = new StateWriter().version(2);
    out.varint(streamMade.getEpochSecond()).varint(streamMade.getNano()).varint(nextSequence);
    state.encode(out);
    out.varint(outbox.size());
    outbox.forEach(message -> message.encode(out));
    return out.toBytes();
  }

  static Checkpoint decode(byte[] bytes) {
    StateReader in = new StateReader(bytes).version(2);
    Instant streamMade = Instant.ofEpochSecond(in.varint(), in.varint());
    long nextSequence = in.varint();
    MemoryState state = MemoryState.decode(in);
    List<OutgoingMessage> outbox = new ArrayList<>();
    for (int left = in.count(3); left > 0; left--) {
      outbox.add(OutgoingMessage.decode(in));
    }
    return new Checkpoint(streamMade, nextSequence, state, outbox);
  }
}
