package io.lifeline.jobs.jetstream;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The entry that makes a checkpoint valid: what must be applied, one after the other, to get it.
 *
 * @param epoch of the lease under which it was written
 * @param parts under keys of their own: first a whole checkpoint, then changes
 * @param changes since the last part, in the entry itself; empty if there are none
 */
record CheckpointHead(long epoch, List<Part> parts, byte[] changes) {

  /** In version 1 a checkpoint was whole: either in the entry or one part. */
  private static final int WHOLE = 1;

  private static final int NEWEST = 2;

  /** Thrown if a payload is not what was written. */
  static final class DamagedException extends Exception {}

  /**
   * A payload in chunks under keys of their own.
   *
   * @param generation part of the keys. It includes the epoch, so a writer that lost its lease never touches its
   *     successor's chunks.
   * @param bytes length of the payload; 0 if unknown
   */
  record Part(String generation, int chunks, int checksum, long bytes) {

    static Part of(String generation, int chunks, byte[] payload) {
      return new Part(generation, chunks, crc(payload), payload.length);
    }

    void check(byte[] payload) throws DamagedException {
      if (crc(payload) != checksum) {
        throw new DamagedException();
      }
    }
  }

  byte[] encode() {
    StateWriter out = new StateWriter().version(NEWEST).varint(epoch).varint(parts.size());
    for (Part part : parts) {
      out.text(part.generation()).varint(part.chunks()).fixed32(part.checksum()).varint(part.bytes());
    }
    return out.fixed32(crc(changes)).blob(changes).toBytes();
  }

  static CheckpointHead decode(byte[] bytes) throws DamagedException {
    StateReader in = new StateReader(bytes);
    int version = in.versions(WHOLE, NEWEST);
    long epoch = in.varint();
    if (version == WHOLE) {
      return decodeWhole(epoch, in);
    }
    List<Part> parts = new ArrayList<>();
    for (int left = in.count(7); left > 0; left--) {
      parts.add(new Part(in.text(), (int) in.varint(), in.fixed32(), in.varint()));
    }
    return checked(epoch, parts, in.fixed32(), in.blob());
  }

  private static CheckpointHead decodeWhole(long epoch, StateReader in) throws DamagedException {
    String generation = in.text();
    int checksum = in.fixed32();
    int chunks = (int) in.varint();
    return chunks == 0
        ? checked(epoch, List.of(), checksum, in.blob())
        : new CheckpointHead(epoch, List.of(new Part(generation, chunks, checksum, 0)), new byte[0]);
  }

  private static CheckpointHead checked(long epoch, List<Part> parts, int checksum, byte[] changes)
      throws DamagedException {
    if (crc(changes) != checksum) {
      throw new DamagedException();
    }
    return new CheckpointHead(epoch, parts, changes);
  }

  private static int crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }
}
