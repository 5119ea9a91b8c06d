package io.lifeline.codec;

/** FNV-1a with 64 bits, the hash of event types and of partitions. */
public final class Fnv1a {
  private static final long OFFSET_BASIS = 0xcbf29ce484222325L;
  private static final long PRIME = 0x100000001b3L;

  private Fnv1a() {}

  public static long hash(byte[] bytes) {
    return hash(bytes, 0, bytes.length);
  }

  public static long hash(byte[] bytes, int offset, int length) {
    long hash = OFFSET_BASIS;
    for (int i = offset; i < offset + length; i++) {
      hash = (hash ^ (bytes[i] & 0xff)) * PRIME;
    }
    return hash;
  }
}
