package io.lifeline.jobs.core.bottleneck;

import java.util.List;
import java.util.Random;

/**
 * The series used to choose the thresholds: samples drawn from distributions, without a simulated mechanism. Validation
 * uses a mechanism instead ({@link CopyMechanism}); the two share neither code nor seeds.
 *
 * <p>The logarithm of each number is its level plus first-order autoregressive noise.
 */
final class Noise {

  /** The level and the noise of one component, in natural logarithms. */
  static final class Component {
    private final String name;
    private double rate;
    private double unevenness = -1;
    private double state;

    Component(String name, double rate) {
      this.name = name;
      this.rate = rate;
    }
  }

  private static final long SECOND_NS = 1_000_000_000;

  private final Random random;
  private final double deviation;
  private final double correlation;
  private final Component[] components = {
    new Component("disk-read", 3), new Component("network", 3), new Component("disk-write", 3)
  };
  private double throughput = 3;
  private long seconds;

  /**
   * @param deviation standard deviation of a sample's logarithm
   * @param correlation of neighbours, 0 to below 1
   */
  Noise(long seed, double deviation, double correlation) {
    this.random = new Random(seed);
    this.deviation = deviation;
    this.correlation = correlation;
  }

  Noise rate(String name, double logarithm) {
    component(name).rate = logarithm;
    return this;
  }

  Noise unevenness(String name, double logarithm) {
    component(name).unevenness = logarithm;
    return this;
  }

  Noise throughput(double logarithm) {
    throughput = logarithm;
    return this;
  }

  private Component component(String name) {
    for (Component component : components) {
      if (component.name.equals(name)) {
        return component;
      }
    }
    throw new IllegalArgumentException(name);
  }

  /** Passes samples of that many seconds to the watch; returns its last verdict. */
  Verdict feed(Watch watch, int count) {
    Verdict verdict = null;
    for (int i = 0; i < count; i++) {
      seconds++;
      double shared = random.nextGaussian() * deviation / 2;
      for (Component component : components) {
        component.state = correlation * component.state
            + Math.sqrt(1 - correlation * correlation) * random.nextGaussian() * deviation;
        verdict = watch.add(List.of(sample(component, Math.exp(throughput + shared) * 1e6)));
      }
    }
    return verdict;
  }

  private Sample sample(Component component, double bytes) {
    double rate = Math.exp(component.rate + component.state) * 1e6;
    double unevenness = Math.exp(component.unevenness + random.nextGaussian() * 0.15);
    return new Sample(
        "", component.name, component.name, seconds * SECOND_NS, SECOND_NS, 100, bytes, bytes / rate * 1e9,
        Math.pow(unevenness * bytes / rate * 1e9 / 100, 2), 1);
  }
}
