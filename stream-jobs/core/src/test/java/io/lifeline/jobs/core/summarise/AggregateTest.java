package io.lifeline.jobs.core.summarise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.datadoghq.sketch.ddsketch.DDSketch;
import com.datadoghq.sketch.ddsketch.encoding.GrowingByteArrayOutput;
import com.datadoghq.sketch.ddsketch.mapping.CubicallyInterpolatedMapping;
import com.datadoghq.sketch.ddsketch.store.CollapsingLowestDenseStore;
import io.lifeline.cases.Cases;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class AggregateTest {

  private static final double[] QUANTILES = {0, 0.5, 0.9, 0.99, 0.999, 1};

  @Test
  void mergesInAnyGroupingToTheSame() {
    Cases.each(1000, any -> {
      Supplier<Double> value = () -> any.between(-1e9, 1e9);
      List<Double> a = any.list(0, 30, value);
      List<Double> b = any.list(0, 30, value);
      List<Double> c = any.list(0, 30, value);
      Aggregate left = of(a);
      left.merge(of(b));
      left.merge(of(c));
      Aggregate tail = of(b);
      tail.merge(of(c));
      Aggregate right = of(a);
      right.merge(tail);
      Aggregate swapped = of(c);
      swapped.merge(of(a));
      swapped.merge(of(b));
      List<Double> all = new ArrayList<>(a);
      all.addAll(b);
      all.addAll(c);
      assertSame(left, of(all));
      assertSame(right, left);
      assertSame(swapped, left);
    });
  }

  @Test
  void takesAColumnAsIfItWereValueByValue() {
    Cases.each(1000, any -> {
      List<Double> before = any.list(0, 200, any::real);
      double most = any.between(0.01, 1e9);
      double least = any.of(-1e9, most / 10); // values of similar magnitude are counted by bin first
      List<Double> values = any.list(30, 300, () -> any.of(-1, 0, 1) * any.between(least, most));
      Aggregate byColumn = of(before);
      double[] column = values.stream().mapToDouble(Double::doubleValue).toArray();
      byColumn.add(column, 3, column.length - 2);
      List<Double> all = new ArrayList<>(before);
      all.addAll(values.subList(3, column.length - 2));
      assertSame(byColumn, of(all));
    });
  }

  @Test
  void takesAColumnThatHoldsWhatIsNotFinite() {
    double[] column = new double[100];
    column[7] = Double.NaN;
    column[8] = Double.NEGATIVE_INFINITY;
    column[9] = 5;
    Aggregate aggregate = new Aggregate();
    aggregate.add(column, 0, column.length);
    assertThat(aggregate.count()).isEqualTo(98);
    assertThat(aggregate.notANumber()).isEqualTo(1);
    assertThat(aggregate.negativeInfinity()).isEqualTo(1);
    assertThat(aggregate.sum()).isEqualTo(5);
    assertThat(aggregate.quantile(0.5)).isZero();
  }

  @Test
  void comesBackFromItsBytes() {
    Cases.each(1000, any -> {
      Aggregate aggregate = of(any.list(0, 255, any::real));
      Aggregate back = reopened(aggregate);
      assertThat(bytes(back)).isEqualTo(bytes(aggregate));
      assertSame(back, aggregate);
    });
  }

  @Test
  void findsQuantilesWithinOnePercent() {
    Cases.each(1000, any -> {
      List<Double> values = any.list(1, 200, () -> any.between(0.01, 1e12));
      Aggregate aggregate = reopened(of(values));
      List<Double> sorted = values.stream().sorted().toList();
      for (double quantile : QUANTILES) {
        double exact = sorted.get((int) (quantile * (sorted.size() - 1)));
        assertThat(aggregate.quantile(quantile)).isCloseTo(exact, within(exact * 0.0101));
      }
    });
  }

  /** A value such as UINT64_MAX often means "not measured". */
  @Test
  void oneOutlierOfAnyMagnitudeLeavesTheOthersTheirQuantiles() {
    for (double outlier : new double[] {0x1p64, Float.MAX_VALUE, Double.MAX_VALUE, -Double.MAX_VALUE, 1e-300}) {
      for (double usual : new double[] {5, 1e-9}) {
        double[] column = new double[1000];
        Arrays.fill(column, usual);
        column[500] = outlier;
        Aggregate byColumn = new Aggregate();
        byColumn.add(column, 0, 1000);
        Aggregate merged = of(List.of(outlier));
        merged.merge(of(Collections.nCopies(999, usual)));
        for (Aggregate aggregate : List.of(byColumn, reopened(byColumn), merged, reopened(merged))) {
          assertThat(List.of(aggregate.quantile(0.01), aggregate.quantile(0.5), aggregate.quantile(0.99)))
              .as("%s among %s", outlier, usual).allSatisfy(q -> assertThat(q).isCloseTo(usual, within(0.0101 * usual)));
        }
      }
    }
  }

  @Test
  void hasBoundedStateOfValuesOfAllMagnitudes() {
    Aggregate aggregate = new Aggregate();
    for (int i = -6000; i < 6000; i++) {
      aggregate.add((i % 2 == 0 ? 1 : -1) * Math.pow(10, i / 20.0));
    }
    assertThat(bytes(aggregate)).hasSizeLessThan(40 << 10);
    assertThat(reopened(aggregate).count()).isEqualTo(12_000);
    assertThat(reopened(aggregate).quantile(0.9)).isCloseTo(1e180, within(1e180 * 0.3));
  }

  /** Earlier programs kept bins side by side. */
  @Test
  void readsTheStateOfEarlierPrograms() throws IOException {
    DDSketch earlier = new DDSketch(new CubicallyInterpolatedMapping(0.01), () -> new CollapsingLowestDenseStore(2048));
    for (int i = 1; i <= 100; i++) {
      earlier.accept(i);
    }
    GrowingByteArrayOutput bytes = GrowingByteArrayOutput.withDefaultInitialCapacity();
    earlier.encode(bytes, true);
    StateWriter out = new StateWriter();
    out.blob(bytes.trimmedCopy());
    Quantiles quantiles = Quantiles.decode(new StateReader(out.toBytes()));
    quantiles.add(Double.MAX_VALUE);
    assertThat(quantiles.at(0.5)).isCloseTo(51, within(0.6));
  }

  @Test
  void agreesWithTheTextbook() {
    Aggregate aggregate = of(List.of(2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0));
    assertThat(aggregate.count()).isEqualTo(8);
    assertThat(aggregate.min()).isEqualTo(2);
    assertThat(aggregate.max()).isEqualTo(9);
    assertThat(aggregate.sum()).isEqualTo(40);
    assertThat(aggregate.mean()).isEqualTo(5);
    assertThat(aggregate.standardDeviation()).isCloseTo(Math.sqrt(32.0 / 7), within(1e-12));
  }

  @Test
  void keepsTheVarianceOfSmallDifferencesBetweenLargeValues() {
    Aggregate first = of(List.of(1e9 + 4, 1e9 + 7));
    first.merge(of(List.of(1e9 + 13, 1e9 + 16)));
    assertThat(first.standardDeviation()).isCloseTo(Math.sqrt(30), within(1e-6));
  }

  @Test
  void countsNaNAndInfinitiesApart() {
    Aggregate aggregate =
        of(List.of(1.0, Double.NaN, Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 3.0));
    assertThat(aggregate.values()).isEqualTo(6);
    assertThat(aggregate.count()).isEqualTo(2);
    assertThat(aggregate.notANumber()).isEqualTo(1);
    assertThat(aggregate.positiveInfinity()).isEqualTo(2);
    assertThat(aggregate.negativeInfinity()).isEqualTo(1);
    assertThat(aggregate.mean()).isEqualTo(2);
    assertThat(aggregate.quantile(1)).isEqualTo(3);
  }

  @Test
  void hasNoStatisticsWithoutAValue() {
    Aggregate aggregate = new Aggregate();
    assertThat(aggregate.min()).isNaN();
    assertThat(aggregate.mean()).isNaN();
    assertThat(aggregate.standardDeviation()).isNaN();
    assertThat(aggregate.quantile(0.5)).isNaN();
  }

  @Test
  void takesTheLargestAndTheSmallestDoubles() {
    Aggregate aggregate = of(List.of(-Double.MAX_VALUE, Double.MIN_VALUE, 0.0, -0.0, Double.MAX_VALUE));
    assertThat(aggregate.min()).isEqualTo(-Double.MAX_VALUE);
    assertThat(aggregate.max()).isEqualTo(Double.MAX_VALUE);
    assertThat(reopened(aggregate).count()).isEqualTo(5);
  }

  @Test
  void needsFewBytesForManyAlikeValues() {
    Aggregate aggregate = new Aggregate();
    for (int i = 0; i < 100_000; i++) {
      aggregate.add(1000 + i % 100);
    }
    assertThat(bytes(aggregate)).hasSizeLessThan(120);
  }

  private static Aggregate of(List<Double> values) {
    Aggregate aggregate = new Aggregate();
    values.forEach(aggregate::add);
    return aggregate;
  }

  private static byte[] bytes(Aggregate aggregate) {
    StateWriter out = new StateWriter();
    aggregate.encode(out);
    return out.toBytes();
  }

  private static Aggregate reopened(Aggregate aggregate) {
    return Aggregate.decode(new StateReader(bytes(aggregate)));
  }

  private static void assertSame(Aggregate actual, Aggregate expected) {
    assertThat(actual.values()).isEqualTo(expected.values());
    assertThat(actual.count()).isEqualTo(expected.count());
    if (expected.count() == 0) {
      return;
    }
    assertThat(actual.min()).isEqualTo(expected.min());
    assertThat(actual.max()).isEqualTo(expected.max());
    double largest = Math.max(Math.abs(expected.min()), Math.abs(expected.max()));
    Offset<Double> rounding = within(Math.max(1e-12, largest * expected.count() * 1e-9));
    if (Double.isFinite(largest * largest)) {
      assertThat(actual.sum()).isCloseTo(expected.sum(), rounding);
      assertThat(actual.mean()).isCloseTo(expected.mean(), rounding);
      assertThat(actual.standardDeviation()).isCloseTo(expected.standardDeviation(), rounding);
    }
    for (double quantile : QUANTILES) {
      assertThat(actual.quantile(quantile)).isEqualTo(expected.quantile(quantile));
    }
  }
}
