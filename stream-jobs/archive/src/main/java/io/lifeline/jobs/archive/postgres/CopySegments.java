package io.lifeline.jobs.archive.postgres;

import java.util.ArrayDeque;

/**
 * A memory pool for encoded rows: segments of equal size that are reused, so that no more of them exist than were once
 * in use together. Buffers of few rows begin with less. Used by one thread.
 */
final class CopySegments {
  /** Size of a segment, in bytes. */
  static final int SIZE = 64 << 10;

  /** Initial size of a buffer, in bytes. */
  static final int SMALLEST = 1 << 10;

  private final ArrayDeque<byte[]> free = new ArrayDeque<>();

  /** Returns memory of at least this many bytes. */
  byte[] take(int needed) {
    if (needed > SIZE) {
      return new byte[needed];
    }
    byte[] segment = free.poll();
    return segment == null ? new byte[SIZE] : segment;
  }

  /** Returns larger memory to replace a buffer smaller than a segment; null if one segment is not enough. */
  byte[] grown(byte[] bytes, int needed) {
    if (bytes.length >= SIZE || needed > SIZE) {
      return null;
    }
    int length = Math.max(2 * bytes.length, needed);
    return length > SIZE / 2 ? take(SIZE) : new byte[length];
  }

  /** Takes memory back into the pool. */
  void give(byte[] bytes) {
    if (bytes.length == SIZE) {
      free.push(bytes);
    }
  }
}
