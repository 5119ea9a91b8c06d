package io.lifeline.jobs.core.bottleneck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.lifeline.cases.Cases;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class ChangePointTest {

  private static double[] step(long seed, int before, int after, double shift) {
    Random random = new Random(seed);
    return DoubleStream.concat(
            DoubleStream.generate(random::nextGaussian).limit(before),
            DoubleStream.generate(() -> random.nextGaussian() + shift).limit(after))
        .toArray();
  }

  /** Uses the same steps in each run: a few in 100,000 random steps score less, and more of those with short sides. */
  @Test
  void aStepIsFoundWhereItIs() {
    Cases.each(200, any -> {
      int before = any.between(20, 100);
      int after = any.between(20, 100);
      ChangePoint found = ChangePoint.find(step(any.number(), before, after, 6), 0);
      assertThat(found.at()).isBetween(before - 2, before + 2);
      assertThat(found.shift()).isCloseTo(6, within(1.5));
      assertThat(found.score()).isGreaterThan(4);
    });
  }

  /** By ranks alone, 24 and 40 separated values are (24 * 40 / 2) / sqrt(24 * 40 * 65 / 12) deviations apart. */
  @Test
  void theScoreIsTheStandardisedSumOfRanks() {
    double[] values = new double[64];
    Arrays.setAll(values, i -> (i < 24 ? 0 : 1000) + (i * 7919 % 64));
    ChangePoint found = ChangePoint.find(values, 0);
    assertThat(found.at()).isEqualTo(24);
    assertThat(found.score()).isLessThanOrEqualTo(480 / Math.sqrt(24 * 40 * 65 / 12.0) + 1e-9);
  }

  @Test
  void theScoreDoesNotDependOnTheScale() {
    Cases.each(200, any -> {
      double[] values = step(any.number(), 20, 30, 1);
      int exponent = any.between(-9, 9);
      double[] scaled = Arrays.stream(values).map(value -> Math.scalb(value, exponent)).toArray();
      ChangePoint found = ChangePoint.find(values, 0);
      assertThat(ChangePoint.find(scaled, 0))
          .isEqualTo(
              found == null
                  ? null
                  : new ChangePoint(found.at(), found.score(), Math.scalb(found.shift(), exponent)));
    });
  }

  @Test
  void oneWildValueIsNoChange() {
    double[] values = step(1, 30, 30, 0);
    values[40] = 1e9;
    assertThat(ChangePoint.find(values, 3)).isNull();
  }

  @Test
  void correlationOfNeighboursIsNotTakenForAChange() {
    Random random = new Random(2);
    int alarms = 0;
    for (int run = 0; run < 200; run++) {
      double[] values = new double[120];
      for (int i = 1; i < values.length; i++) {
        values[i] = 0.8 * values[i - 1] + random.nextGaussian();
      }
      alarms += ChangePoint.find(values, 4) != null ? 1 : 0;
    }
    assertThat(alarms).isLessThanOrEqualTo(10);
  }

  @Test
  void aChangeIsTakenUpWhenItIsClearWhereItWas() {
    double[] values = step(4, 30, 8, 1000);
    for (int after = 0; after <= 8; after++) {
      ChangePoint found = ChangePoint.find(Arrays.copyOf(values, 30 + after), 1);
      assertThat(found == null || Math.abs(found.shift()) < 10 || found.at() == 30).as("%d after it", after).isTrue();
    }
    assertThat(ChangePoint.find(values, 1).at()).isEqualTo(30);
  }

  @Test
  void equalOrFewValuesHaveNone() {
    assertThat(ChangePoint.find(new double[60], 0.1)).isNull();
    assertThat(ChangePoint.find(step(3, 4, 5, 100), 0.1)).isNull();
  }
}
