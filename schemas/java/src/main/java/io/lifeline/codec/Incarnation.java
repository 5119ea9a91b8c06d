package io.lifeline.codec;

/** The random 128-bit id of one run of an emitter; each start and each fork is a new one. */
public final class Incarnation implements Comparable<Incarnation> {
  private final long high;
  private final long low;

  public Incarnation(long high, long low) {
    this.high = high;
    this.low = low;
  }

  /** Parses the format of {@link #toString()}: 32 hexadecimal digits. */
  public static Incarnation parse(String hex) {
    if (hex.length() != 32 || !hex.chars().allMatch(c -> c < 128 && Character.digit(c, 16) >= 0)) {
      throw new IllegalArgumentException("an incarnation is 32 hexadecimal digits");
    }
    return new Incarnation(
        Long.parseUnsignedLong(hex.substring(0, 16), 16), Long.parseUnsignedLong(hex.substring(16), 16));
  }

  /** Returns the first eight of the sixteen bytes, most significant first. */
  public long high() {
    return high;
  }

  /** Returns the last eight of the sixteen bytes, most significant first. */
  public long low() {
    return low;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Incarnation && ((Incarnation) other).high == high && ((Incarnation) other).low == low;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(high * 31 + low);
  }

  @Override
  public int compareTo(Incarnation other) {
    int order = Long.compareUnsigned(high, other.high);
    return order != 0 ? order : Long.compareUnsigned(low, other.low);
  }

  /** Returns 32 lower-case hexadecimal digits, as in message IDs and keys. */
  @Override
  public String toString() {
    return Hex.of(high) + Hex.of(low);
  }
}
