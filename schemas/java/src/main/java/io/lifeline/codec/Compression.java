package io.lifeline.codec;

import java.util.Locale;

/** How the events of a batch are stored; the numbers are those of FORMAT section 3. */
public enum Compression {
  NONE,
  LZ4,
  ZSTD;

  private static final Compression[] VALUES = values();

  private final String label = name().toLowerCase(Locale.ROOT);

  public String label() {
    return label;
  }

  /** Returns the compression with that number, or null if there is none. */
  static Compression ofNumber(int number) {
    return number < VALUES.length ? VALUES[number] : null;
  }
}
