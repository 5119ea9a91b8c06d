package io.lifeline.ksql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.confluent.ksql.function.udaf.Udaf;
import io.lifeline.cases.Cases;
import io.lifeline.cases.Inputs;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class QuantileFunctionTest {

  private final Udaf<Double, ByteBuffer, Double> median = QuantileFunction.ofDecimal(new BigDecimal("0.5"));

  @Test
  void isWithinOnePerCentOfTheExactAnswer() {
    Cases.each(200, any -> {
      List<Double> values = values(any, 1, 200);
      double share = any.between(0.0, 1.0);
      Udaf<Double, ByteBuffer, Double> quantile = QuantileFunction.ofDouble(share);
      double exact = values.stream().sorted().skip((long) (share * (values.size() - 1))).findFirst().orElseThrow();
      assertThat(quantile.map(aggregate(quantile, values))).isCloseTo(exact, within(0.0101 * Math.abs(exact) + 1e-300));
    });
  }

  @Test
  void mergesToTheSameAsAllValuesTogether() {
    Cases.each(50, any -> {
      List<Double> one = values(any, 0, 255);
      List<Double> other = values(any, 1, 255);
      ByteBuffer together = aggregate(median, other);
      for (double value : one) {
        together = median.aggregate(value, together);
      }
      ByteBuffer merged = median.merge(aggregate(median, one), aggregate(median, other));
      assertThat(median.map(merged)).isEqualTo(median.map(together));
    });
  }

  @Test
  void isExactAtTheEnds() {
    List<Double> values = List.of(3.0, 1.2345, 7.00001);
    assertThat(QuantileFunction.ofInteger(0).map(aggregate(median, values))).isEqualTo(1.2345);
    assertThat(QuantileFunction.ofInteger(1).map(aggregate(median, values))).isEqualTo(7.00001);
  }

  @Test
  void isNullOfNoValues() {
    assertThat(median.map(median.initialize())).isNull();
  }

  @Test
  void leavesOutNullsAndWhatIsNotFinite() {
    ByteBuffer state = aggregate(median, List.of(Double.NaN, Double.POSITIVE_INFINITY, 4.0));
    assertThat(median.map(median.aggregate(null, state))).isEqualTo(4.0);
  }

  @Test
  void leavesTheStateThatItWasGivenAlone() {
    ByteBuffer state = aggregate(median, List.of(1.0, 2.0, 3.0));
    ByteBuffer before = state.duplicate();
    median.aggregate(100.0, state);
    median.merge(state, state);
    median.map(state);
    assertThat(state).isEqualTo(before);
  }

  @Test
  void takesSharesFromZeroToOneOnly() {
    assertThatThrownBy(() -> QuantileFunction.ofInteger(99)).hasMessageContaining("between 0 and 1, not at 99");
    assertThatThrownBy(() -> QuantileFunction.ofDouble(Double.NaN)).hasMessageContaining("between 0 and 1");
  }

  @Test
  void oneOutlierLeavesTheOthersTheirQuantiles() {
    for (double outlier : new double[] {0x1p64, Double.MAX_VALUE, -Double.MAX_VALUE, 1e-300}) {
      ByteBuffer state = median.merge(aggregate(median, List.of(outlier)), aggregate(median, List.of(5.0, 5.0, 5.0)));
      assertThat(median.map(state)).as("with %s", outlier).isCloseTo(5, within(0.0505));
    }
  }

  private static List<Double> values(Inputs any, int min, int max) {
    return any.list(min, max, () -> any.of(-1, 0, 1) * any.between(1e-8, 1e9));
  }

  private static ByteBuffer aggregate(Udaf<Double, ByteBuffer, Double> function, List<Double> values) {
    ByteBuffer state = function.initialize();
    for (double value : values) {
      state = function.aggregate(value, state);
    }
    return state;
  }
}
