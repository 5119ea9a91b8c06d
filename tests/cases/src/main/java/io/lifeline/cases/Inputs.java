package io.lifeline.cases;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/** Values of one case. Those at which programs tip over come more often than by chance: ends of a range, 0, 1, -1. */
public final class Inputs {

  /** From this case on inputs are as large as they may be. */
  private static final double LARGE = 100;

  private static final double[] UNUSUAL = {
    0.0, -0.0, 1, -1, Double.MIN_VALUE, -Double.MIN_VALUE, Double.MIN_NORMAL, Double.MAX_VALUE, -Double.MAX_VALUE,
    Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY
  };

  private final SplittableRandom random;
  private final double size;
  private final List<Object> drawn = new ArrayList<>();

  Inputs(long number) {
    random = new SplittableRandom(number);
    size = Math.min(1, (number + 1) / LARGE);
  }

  /** Each value from the smallest to the largest, both included. */
  public long between(long min, long max) {
    return shown(whole(min, max));
  }

  public int between(int min, int max) {
    return shown((int) whole(min, max));
  }

  public double between(double min, double max) {
    double value = anyReal();
    if (random.nextInt(8) == 0) {
      value = random.nextBoolean() ? min : max;
    } else if (!(value >= min && value <= max) || random.nextBoolean()) {
      value = random.nextDouble(min, max);
    }
    return shown(value);
  }

  public long number() {
    return between(Long.MIN_VALUE, Long.MAX_VALUE);
  }

  /** Of any magnitude, infinite or not a number. */
  public double real() {
    return shown(anyReal());
  }

  public boolean flag() {
    return shown(random.nextBoolean());
  }

  @SafeVarargs
  public final <T> T of(T... choices) {
    return shown(choices[random.nextInt(choices.length)]);
  }

  /** Some elements are there several times. */
  public <T> List<T> list(int min, int max, Supplier<T> element) {
    return made(
        () -> {
          int length = length(min, max);
          List<T> list = new ArrayList<>(length);
          while (list.size() < length) {
            boolean again = !list.isEmpty() && random.nextInt(8) == 0;
            list.add(again ? list.get(random.nextInt(list.size())) : element.get());
          }
          return list;
        });
  }

  public byte[] bytes(int max) {
    byte[] bytes = new byte[length(0, max)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) whole(-128, 127);
    }
    return shown(bytes);
  }

  /** Mostly ASCII, control characters included, and any others, halves of surrogate pairs included. */
  public String text(int max) {
    StringBuilder text = new StringBuilder();
    for (int left = length(0, max); left > 0; left--) {
      text.appendCodePoint((int) whole(0, random.nextInt(4) == 0 ? Character.MAX_CODE_POINT : 0x7f));
    }
    return shown(text.toString());
  }

  /** What is made of several values; a message shows it instead of them. */
  public <T> T made(Supplier<T> maker) {
    int before = drawn.size();
    T value = maker.get();
    drawn.subList(before, drawn.size()).clear();
    return shown(value);
  }

  /** So much, or less in the first cases. */
  public int upTo(int max) {
    return (int) Math.ceil(max * size);
  }

  private double anyReal() {
    return random.nextInt(8) == 0
        ? UNUSUAL[random.nextInt(UNUSUAL.length)]
        : Math.scalb(random.nextDouble(-1, 1), (int) whole(-1074, 1024));
  }

  private int length(int min, int max) {
    return (int) whole(min, min + upTo(max - min));
  }

  private long whole(long min, long max) {
    long[] edges = {min, max, min + 1, max - 1, -1, 0, 1};
    // As many digits at random, or small values would be rare in a wide range.
    int bits = random.nextInt(65 - Long.numberOfLeadingZeros(max - min));
    long step = bits == 0 ? 0 : random.nextLong() >>> (64 - bits);
    long near = Math.max(min, Math.min(0, max)) + (random.nextBoolean() ? step : -step);
    int kind = random.nextInt(8);
    long value = kind == 0 ? edges[random.nextInt(edges.length)] : near;
    boolean uniform = kind > 3 || value < min || value > max;
    return !uniform ? value : random.nextLong(min, max == Long.MAX_VALUE ? max : max + 1);
  }

  private <T> T shown(T value) {
    drawn.add(value);
    return value;
  }

  /** The values of this case so far. */
  @Override
  public String toString() {
    return Arrays.deepToString(drawn.toArray());
  }
}
