package io.lifeline.codec;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.List;
import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;

/** The conversion against FORMAT section 7 written down in unbounded numbers. */
class TickClockTest {
  private static final BigInteger TWO_TO_64 = BigInteger.ONE.shiftLeft(64);
  private static final BigInteger MAX_MULT = BigInteger.ONE.shiftLeft(62);

  private static BigInteger unsigned(long value) {
    return value >= 0 ? BigInteger.valueOf(value) : BigInteger.valueOf(value).add(TWO_TO_64);
  }

  private static TickClock clock(long hz, List<Calibration> calibrations) throws RejectedBatchException {
    BatchWriter writer = new BatchWriter().ticks(0, hz, false);
    for (Calibration c : calibrations) {
      writer.calibration(c.tick(), c.monotonicNs(), c.realtimeOffsetNs(), c.errorNs(), c.step());
    }
    byte[] batch = writer.toByteArray();
    return new BatchReader().read(batch, 0, batch.length).header().clock;
  }

  private static long expected(long tick, long real, long mult, long at) {
    BigInteger product = BigInteger.valueOf(at - tick).multiply(BigInteger.valueOf(mult));
    return BigInteger.valueOf(real).add(product.shiftRight(32)).longValue();
  }

  @Property(seed = "1")
  void oneCalibrationAloneCountsByTheNominalRate(
      @ForAll long tick,
      @ForAll @LongRange(min = 1, max = TickClock.MAX_TICK_HZ) long hz,
      @ForAll @LongRange(min = 0) long monotonic,
      @ForAll @LongRange(min = -1_000_000_000_000L, max = 0) long offset,
      @ForAll long at)
      throws RejectedBatchException {
    long mult = BigInteger.valueOf(1_000_000_000).shiftLeft(32).divide(BigInteger.valueOf(hz)).longValueExact();
    assertThat(clock(hz, List.of(new Calibration(tick, monotonic, offset, 0, false))).timeNs(at))
        .isEqualTo(expected(tick, monotonic + offset, mult, at));
  }

  @Property(seed = "1")
  void betweenTwoCalibrationsTimeIsInterpolated(
      @ForAll long tick,
      @ForAll @LongRange(min = 1) long ticks,
      @ForAll @LongRange(min = 0, max = Long.MAX_VALUE / 2) long monotonic,
      @ForAll @LongRange(min = 0, max = Long.MAX_VALUE / 2) long elapsed,
      @ForAll boolean step,
      @ForAll long at)
      throws RejectedBatchException {
    Assume.that(Long.compareUnsigned(tick + ticks, tick) > 0);
    BigInteger mult = BigInteger.valueOf(elapsed).shiftLeft(32).divide(unsigned(ticks));
    Assume.that(mult.compareTo(MAX_MULT) < 0);
    long offset = step ? -5 : 0;
    TickClock clock =
        clock(
            1_000_000_000,
            List.of(
                new Calibration(tick, monotonic, 0, 0, false),
                new Calibration(tick + ticks, monotonic + elapsed, offset, 0, step)));
    boolean isLater = Long.compareUnsigned(at, tick + ticks) >= 0;
    long from = isLater ? tick + ticks : tick;
    long real = isLater ? monotonic + elapsed + offset : monotonic;
    assertThat(clock.timeNs(at)).isEqualTo(expected(from, real, mult.longValueExact(), at));
  }
}
