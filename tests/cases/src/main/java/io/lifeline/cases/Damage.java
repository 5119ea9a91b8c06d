package io.lifeline.cases;

import java.util.Arrays;

/** Damages bytes as a fuzzer does. */
public final class Damage {

  /** Boundary values of length and count checks. */
  private static final Integer[] EDGES = {0, 1, 2, 7, 8, 9, 0x7f, 0x80, 0xff};

  private Damage() {}

  /** Returns a copy, one to four times with bytes overwritten, a bit flipped, or a run cut, inserted or repeated. */
  public static byte[] of(byte[] bytes, Inputs any) {
    byte[] damaged = bytes.clone();
    for (int left = any.between(1, 4); left > 0 && damaged.length > 0; left--) {
      // Half of the damage is at the beginning, where most decisions are made.
      int at = any.between(0, any.of(400, 100_000)) % damaged.length;
      switch (any.of("overwrite", "flip", "cut", "insert", "repeat")) {
        case "overwrite" -> damaged[at] = (byte) (int) any.of(any.of(EDGES), any.between(0, 255));
        case "flip" -> damaged[at] ^= (byte) (1 << any.between(0, 7));
        case "cut" -> {
          int end = Math.min(damaged.length, at + any.of(1, 8, 64, 1 << 20));
          damaged = replaced(damaged, at, end, new byte[0]);
        }
        case "insert" -> damaged = replaced(damaged, at, at, any.bytes(16));
        default -> {
          int from = any.between(0, damaged.length - 1);
          int end = Math.min(damaged.length, from + any.of(1, 16, 256));
          damaged = replaced(damaged, at, at, Arrays.copyOfRange(damaged, from, end));
        }
      }
    }
    return damaged;
  }

  private static byte[] replaced(byte[] bytes, int from, int to, byte[] by) {
    byte[] result = Arrays.copyOf(bytes, bytes.length - (to - from) + by.length);
    System.arraycopy(by, 0, result, from, by.length);
    System.arraycopy(bytes, to, result, from + by.length, bytes.length - to);
    return result;
  }
}
