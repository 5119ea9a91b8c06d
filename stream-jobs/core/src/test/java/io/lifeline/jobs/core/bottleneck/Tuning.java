package io.lifeline.jobs.core.bottleneck;

import java.util.Locale;

/**
 * Was used to choose the thresholds of {@link Watch} and {@link Rule}: run it, change a threshold, run it again. Its
 * series are {@link Noise}; the thresholds are validated on other series, see {@link Validation}.
 */
final class Tuning {

  private static final int RUNS = 100;
  private static final int STEADY_S = 300;

  private Tuning() {}

  public static void main(String[] arguments) {
    System.out.println("deviation correlation | false changes/h | right: steady  alike  fall  hidden  unseen | s to notice");
    for (double deviation : new double[] {0.05, 0.15, 0.3}) {
      for (double correlation : new double[] {0, 0.5, 0.8}) {
        Row row = new Row(deviation, correlation);
        for (int run = 0; run < RUNS; run++) {
          row.run(run);
        }
        row.print();
      }
    }
  }

  /** Results of the runs with one kind of noise. */
  private static final class Row {
    private final double deviation;
    private final double correlation;
    private int falseChanges;
    private int steady;
    private int alike;
    private int fall;
    private int secondsToFall;
    private int hidden;
    private int unseen;

    Row(double deviation, double correlation) {
      this.deviation = deviation;
      this.correlation = correlation;
    }

    private Noise noise(long seed) {
      return new Noise(seed, deviation, correlation);
    }

    void run(int run) {
      steady(noise(1000 + run).rate("network", 2.5).throughput(2.4));
      alike += noise(2000 + run).throughput(2.9).feed(watch(), 120).component() == null ? 1 : 0;
      fall(noise(3000 + run).rate("disk-write", 2.5).throughput(2.4));
      hidden(noise(4000 + run).rate("network", 2.3).rate("disk-write", 2.6).throughput(2.2));
      unseen(noise(5000 + run).rate("disk-write", 2.5).throughput(2.4));
    }

    private void steady(Noise noise) {
      Watch watch = watch();
      long last = 0;
      for (int second = 0; second < STEADY_S; second++) {
        noise.feed(watch, 1);
        falseChanges += watch.changedNs() != last ? 1 : 0;
        last = watch.changedNs();
      }
      steady += "network".equals(watch.verdict().component()) ? 1 : 0;
    }

    private void fall(Noise noise) {
      Watch watch = watch();
      noise.feed(watch, 60);
      noise.rate("network", 1.8).throughput(1.7);
      for (int second = 0; second < 60; second++) {
        secondsToFall += "network".equals(noise.feed(watch, 1).component()) ? 0 : 1;
      }
      fall += "network".equals(watch.verdict().component()) ? 1 : 0;
    }

    private void hidden(Noise noise) {
      Watch watch = watch();
      noise.feed(watch, 60);
      noise.rate("network", 2.9).unevenness("network", -0.3).throughput(1.6);
      hidden += "network".equals(noise.feed(watch, 60).component()) ? 1 : 0;
    }

    private void unseen(Noise noise) {
      Watch watch = watch();
      noise.feed(watch, 60);
      noise.throughput(1.9);
      unseen += noise.feed(watch, 60).component() == null ? 1 : 0;
    }

    void print() {
      System.out.printf(Locale.ROOT, "%9.2f %11.1f | %15.1f | %13d %6d %5d %7d %7d | %11.1f%n", deviation, correlation,
          falseChanges * 3600.0 / (STEADY_S * RUNS), steady, alike, fall, hidden, unseen,
          (double) secondsToFall / RUNS);
    }
  }

  private static Watch watch() {
    return new Watch(60_000_000_000L);
  }
}
