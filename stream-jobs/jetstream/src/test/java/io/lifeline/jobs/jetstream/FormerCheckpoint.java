package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.MemoryState;
import io.lifeline.jobs.core.StateWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Instant;
import java.util.zip.CRC32C;
import java.util.zip.DeflaterOutputStream;

/** Encodes a checkpoint as releases did whose checkpoints were always whole: version 2 in an entry of version 1. */
final class FormerCheckpoint {

  private FormerCheckpoint() {}

  static byte[] inEntry(long epoch, Instant streamMade, long nextSequence, MemoryState state) throws IOException {
    byte[] payload = payload(streamMade, nextSequence, state);
    return head(epoch, "1-1", payload).varint(0).blob(payload).toBytes();
  }

  /** Returns the entry of a checkpoint that is stored in so many chunks of a generation. */
  static byte[] ofChunks(long epoch, String generation, int chunks, byte[] payload) {
    return head(epoch, generation, payload).varint(chunks).toBytes();
  }

  static byte[] payload(Instant streamMade, long nextSequence, MemoryState state) throws IOException {
    StateWriter out = new StateWriter().version(2);
    out.varint(streamMade.getEpochSecond()).varint(streamMade.getNano()).varint(nextSequence);
    state.encode(out);
    ByteArrayOutputStream payload = new ByteArrayOutputStream();
    try (DeflaterOutputStream deflated = new DeflaterOutputStream(payload)) {
      deflated.write(out.varint(0).toBytes());
    }
    return payload.toByteArray();
  }

  private static StateWriter head(long epoch, String generation, byte[] payload) {
    CRC32C crc = new CRC32C();
    crc.update(payload);
    return new StateWriter().version(1).varint(epoch).text(generation).fixed32((int) crc.getValue());
  }
}
