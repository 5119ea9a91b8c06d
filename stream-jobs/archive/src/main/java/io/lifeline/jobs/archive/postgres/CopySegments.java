package io.lifeline.jobs.archive.postgres;

import java.util.ArrayDeque;

/**
 * Memory for rows on their way: segments of equal size that go from roll to roll, so that no more of them exist than
 * were once in use together. Buffers of few rows begin with less. Used by one thread.
 */
final class CopySegments {
  /** Of a segment, in bytes. */
  static final int SIZE = 64 << 10;

  /** What a buffer begins with, in bytes. */
  static final int SMALLEST = 1 << 10;

  private final ArrayDeque<byte[]> free = new ArrayDeque<>();

  /** Memory of at least so many bytes. */
  byte[] take(int needed) {
    if (needed > SIZE) {
      return new byte[needed];
    }
    byte[] segment = free.poll();
    return segment == null ? new byte[SIZE] : segment;
  }

  /** Larger memory in place of what is not a whole segment yet; null if so much does not fit into one. */
  byte[] grown(byte[] bytes, int needed) {
    if (bytes.length >= SIZE || needed > SIZE) {
      return null;
    }
    int length = Math.max(2 * bytes.length, needed);
    return length > SIZE / 2 ? take(SIZE) : new byte[length];
  }

  /** Takes memory back. */
  void give(byte[] bytes) {
    if (bytes.length == SIZE) {
      free.push(bytes);
    }
  }
}
