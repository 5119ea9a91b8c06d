package io.lifeline.jobs.core.bottleneck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.Random;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class LevelTest {

  /** Welch's test of two samples with unequal variances, as in R's t.test(a, b, alternative = "less"). */
  @Test
  void theTestIsWelchs() {
    Level a = new Level(6, 20.6, 3.2);
    Level b = new Level(9, 23.1, 11.4);
    double t = (20.6 - 23.1) / Math.sqrt(3.2 / 6 + 11.4 / 9);
    double freedom =
        Math.pow(3.2 / 6 + 11.4 / 9, 2) / (Math.pow(3.2 / 6, 2) / 5 + Math.pow(11.4 / 9, 2) / 8);
    assertThat(a.chanceOfBeingBelow(b)).isCloseTo(studentsLowerTail(t, freedom), within(1e-4));
    assertThat(b.chanceOfBeingBelow(a)).isCloseTo(1 - a.chanceOfBeingBelow(b), within(1e-9));
  }

  /** Integrates the unnormalised density by Simpson's rule. */
  private static double studentsLowerTail(double t, double freedom) {
    int steps = 2_000_000;
    double width = 400.0 / steps;
    double below = 0;
    double all = 0;
    for (int i = 0; i <= steps; i++) {
      double x = -200 + i * width;
      double weight = i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2;
      double density = weight * Math.pow(1 + x * x / freedom, -(freedom + 1) / 2);
      all += density;
      below += x <= t ? density : 0;
    }
    return below / all;
  }

  @Test
  void neighboursThatResembleEachOtherCountForLess() {
    Random random = new Random(1);
    double[] independent = DoubleStream.generate(random::nextGaussian).limit(1000).toArray();
    double[] correlated = new double[1000];
    for (int i = 1; i < 1000; i++) {
      correlated[i] = 0.8 * correlated[i - 1] + random.nextGaussian();
    }
    assertThat(Level.of(independent).count()).isBetween(850L, 1000L);
    assertThat(Level.of(correlated).count()).as("(1 - 0.8) / (1 + 0.8) of 1,000").isBetween(75L, 160L);
  }

  @Test
  void weightsCountLikeRepetitions() {
    Level weighted = Level.of(new double[] {1, 4, 2}, new double[] {1, 3, 2});
    assertThat(weighted.mean()).isCloseTo((1 + 4 + 4 + 4 + 2 + 2) / 6.0, within(1e-12));
    assertThat(Level.of(new double[] {6, 1, 1.1, 0.9}, new double[] {1e-9, 1, 1, 1}).mean()).isCloseTo(1, within(1e-6));
  }

  @Test
  void equalWeightsAreNone() {
    double[] values = {3, 1, 4, 1, 5, 9, 2, 6};
    double[] equal = {7, 7, 7, 7, 7, 7, 7, 7};
    assertThat(Level.of(values, equal).mean()).isCloseTo(Level.of(values).mean(), within(1e-12));
    assertThat(Level.of(values, equal).variance()).isCloseTo(Level.of(values).variance(), within(1e-12));
    assertThat(Level.of(values, equal).count()).isEqualTo(Level.of(values).count());
  }

  @Test
  void equalValuesAreALevelToo() {
    Level three = Level.of(new double[] {3, 3, 3, 3});
    assertThat(three.mean()).isEqualTo(3);
    assertThat(three.chanceOfBeingBelow(Level.of(new double[] {4, 4, 4, 4}))).isLessThan(1e-6);
  }

  @Test
  void valuesThatAreNotKnownAreLeftOut() {
    assertThat(Level.of(new double[] {1, Double.NaN, 3}).mean()).isEqualTo(2);
    assertThat(Level.of(new double[] {1, Double.NaN}).isKnown()).isFalse();
  }

  @Test
  void isReadBackAsItWasWritten() {
    for (Level level : new Level[] {Level.UNKNOWN, new Level(7, -1.5, 0.25)}) {
      StateWriter out = new StateWriter();
      level.encode(out);
      assertThat(Level.decode(new StateReader(out.toBytes()))).isEqualTo(level);
    }
  }
}
