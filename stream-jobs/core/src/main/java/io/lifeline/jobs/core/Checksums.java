package io.lifeline.jobs.core;

import java.util.Arrays;

/** The checksums of up to 64 neighbouring sequences of a route. */
public final class Checksums {
  static final int SIZE = 64;

  private final long chunk;
  private long known;
  private int[] checksums = new int[4];

  /** @param chunk see {@link #chunkOf} */
  Checksums(long chunk) {
    this.chunk = chunk;
  }

  /** Returns the number of the chunk that holds a sequence. */
  static long chunkOf(long sequence) {
    return sequence >>> 6;
  }

  long chunk() {
    return chunk;
  }

  boolean knows(long sequence) {
    return (known >>> place(sequence) & 1) != 0;
  }

  boolean matches(long sequence, int checksum) {
    return checksums[place(sequence)] == checksum;
  }

  void put(long sequence, int checksum) {
    int place = place(sequence);
    if (place >= checksums.length) {
      checksums = Arrays.copyOf(checksums, Math.min(SIZE, Math.max(place + 1, 2 * checksums.length)));
    }
    checksums[place] = checksum;
    known |= 1L << place;
  }

  private static int place(long sequence) {
    return (int) (sequence & SIZE - 1);
  }

  /** Returns the union of two stored values of a chunk; where they differ, the first takes precedence. */
  public static byte[] merge(byte[] first, byte[] second) {
    Checksums merged = of(first);
    Checksums other = of(second);
    for (long sequence = 0; sequence < SIZE; sequence++) {
      if (other.knows(sequence) && !merged.knows(sequence)) {
        merged.put(sequence, other.checksums[(int) sequence]);
      }
    }
    return merged.toBytes();
  }

  byte[] toBytes() {
    StateWriter out = new StateWriter().version(1);
    encode(out);
    return out.toBytes();
  }

  static Checksums of(byte[] bytes) {
    return decode(new StateReader(bytes).version(1));
  }

  void encode(StateWriter out) {
    out.varint(chunk).fixed64(known);
    for (int place = 0; place < SIZE; place++) {
      if ((known >>> place & 1) != 0) {
        out.fixed32(checksums[place]);
      }
    }
  }

  static Checksums decode(StateReader in) {
    Checksums decoded = new Checksums(in.varint());
    long known = in.fixed64();
    for (int place = 0; place < SIZE; place++) {
      if ((known >>> place & 1) != 0) {
        decoded.put(place, in.fixed32());
      }
    }
    return decoded;
  }
}
