package io.lifeline.ksql;

import io.confluent.ksql.function.udaf.Udaf;
import io.confluent.ksql.function.udaf.UdafDescription;
import io.confluent.ksql.function.udaf.UdafFactory;
import io.confluent.ksql.function.udf.UdfParameter;
import java.math.BigDecimal;
import java.nio.ByteBuffer;

/**
 * The aggregate function for one quantile. There is a factory for each type of literal: 0.99 is a DECIMAL, 9.9E-1 a
 * DOUBLE and 1 an INTEGER, and ksqlDB does not convert arguments of factories.
 */
@UdafDescription(
    name = "lifeline_quantile",
    description = "The value below which a share of the values lies, within 1 % of it",
    category = Functions.CATEGORY,
    author = Functions.AUTHOR,
    version = Functions.VERSION)
public final class QuantileFunction {

  private QuantileFunction() {}

  @UdafFactory(description = "Quantile of a DOUBLE column, for example LIFELINE_QUANTILE(ms, 0.99)")
  public static Udaf<Double, ByteBuffer, Double> ofDecimal(
      @UdfParameter(description = "between 0 and 1") BigDecimal share) {
    return new Quantile(share.doubleValue());
  }

  @UdafFactory(description = "Quantile of a DOUBLE column, for example LIFELINE_QUANTILE(ms, 9.9E-1)")
  public static Udaf<Double, ByteBuffer, Double> ofDouble(@UdfParameter(description = "between 0 and 1") Double share) {
    return new Quantile(share);
  }

  @UdafFactory(description = "Least or greatest value of a DOUBLE column: LIFELINE_QUANTILE(ms, 1)")
  public static Udaf<Double, ByteBuffer, Double> ofInteger(@UdfParameter(description = "0 or 1") Integer share) {
    return new Quantile(share);
  }

  private static final class Quantile implements Udaf<Double, ByteBuffer, Double> {

    private final double share;

    Quantile(double share) {
      if (!(share >= 0 && share <= 1)) {
        throw new IllegalArgumentException("a quantile lies between 0 and 1, not at " + share);
      }
      this.share = share;
    }

    @Override
    public ByteBuffer initialize() {
      return new Quantiles().toBytes();
    }

    @Override
    public ByteBuffer aggregate(Double value, ByteBuffer state) {
      if (value == null) {
        return state;
      }
      Quantiles quantiles = Quantiles.of(state);
      quantiles.add(value);
      return quantiles.toBytes();
    }

    @Override
    public ByteBuffer merge(ByteBuffer one, ByteBuffer other) {
      Quantiles quantiles = Quantiles.of(one);
      quantiles.merge(Quantiles.of(other));
      return quantiles.toBytes();
    }

    @Override
    public Double map(ByteBuffer state) {
      return Quantiles.of(state).at(share);
    }
  }
}
