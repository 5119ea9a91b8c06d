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
 * @param lastTimeMs broker time of the message before {@code nextSequence}; 0 if unknown
 * @param outbox messages whose content depends on timing: they are sent, or sent again, from here
 */
record Checkpoint(Instant streamMade, long nextSequence, long lastTimeMs, MemoryState state,
    List<OutgoingMessage> outbox) {

  /** In version 2 every checkpoint had the whole state, so nothing was ever deleted from an earlier one. */
  private static final int WITHOUT_DELETIONS = 2;

  private static final int WITHOUT_LAST_TIME = 3;
  private static final int NEWEST = 4;

  static Checkpoint initial() {
    return new Checkpoint(StreamBounds.UNKNOWN, 1, 0, new MemoryState(), List.of());
  }

  /** Encodes the checkpoint with the whole state. */
  byte[] encode() {
    StateWriter out = position();
    state.encode(out);
    return end(out.varint(0));
  }

  /** Encodes the checkpoint with what has changed in the state since it was last marked as stored. */
  byte[] encodeChanges() {
    StateWriter out = position();
    state.encodeChanges(out);
    return end(out);
  }

  private StateWriter position() {
    return new StateWriter()
        .version(NEWEST)
        .varint(streamMade.getEpochSecond())
        .varint(streamMade.getNano())
        .varint(nextSequence)
        .varint(lastTimeMs);
  }

  private byte[] end(StateWriter out) {
    out.varint(outbox.size());
    outbox.forEach(message -> message.encode(out));
    return out.toBytes();
  }

  /** @param state that of the checkpoint before; it becomes this one's */
  static Checkpoint decode(byte[] bytes, MemoryState state) {
    StateReader in = new StateReader(bytes);
    int version = in.versions(WITHOUT_DELETIONS, NEWEST);
    Instant streamMade = in.instant();
    long nextSequence = in.varint();
    long lastTimeMs = version > WITHOUT_LAST_TIME ? in.varint() : 0;
    if (version == WITHOUT_DELETIONS) {
      state.applyWhole(in);
    } else {
      state.apply(in);
    }
    List<OutgoingMessage> outbox = new ArrayList<>();
    for (int left = in.count(3); left > 0; left--) {
      outbox.add(OutgoingMessage.decode(in));
    }
    return new Checkpoint(streamMade, nextSequence, lastTimeMs, state, outbox);
  }
}
