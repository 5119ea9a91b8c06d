package io.lifeline.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.lifeline.cases.Cases;
import java.math.BigInteger;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Compares the conversion with FORMAT section 7 computed in unbounded integers. */
class TickClockTest {
  private static final long MAX_NS_PER_TICK = 1L << 30;

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

  @Test
  void oneCalibrationAloneCountsByTheNominalRate() {
    Cases.each(1000, any -> {
      long tick = any.number();
      long hz = any.between(1, TickClock.MAX_TICK_HZ);
      long monotonic = any.between(0, Long.MAX_VALUE);
      long offset = any.between(-1_000_000_000_000L, 0);
      long at = any.number();
      long mult = BigInteger.valueOf(1_000_000_000).shiftLeft(32).divide(BigInteger.valueOf(hz)).longValueExact();
      assertThat(clock(hz, List.of(new Calibration(tick, monotonic, offset, 0, false))).timeNs(at))
          .isEqualTo(expected(tick, monotonic + offset, mult, at));
    });
  }

  @Test
  void betweenTwoCalibrationsTimeIsInterpolated() {
    Cases.each(1000, any -> {
      long ticks = any.between(1, Long.MAX_VALUE);
      long tick = any.number();
      tick = Long.compareUnsigned(tick + ticks, tick) > 0 ? tick : tick - ticks;
      long monotonic = any.between(0, Long.MAX_VALUE / 2);
      long elapsed = any.between(0, Math.min(ticks, Long.MAX_VALUE >> 31) * MAX_NS_PER_TICK - 1);
      long offset = any.of(0, -5);
      long at = any.number();
      TickClock clock =
          clock(
              1_000_000_000,
              List.of(
                  new Calibration(tick, monotonic, 0, 0, false),
                  new Calibration(tick + ticks, monotonic + elapsed, offset, 0, offset != 0)));
      boolean isLater = Long.compareUnsigned(at, tick + ticks) >= 0;
      long from = isLater ? tick + ticks : tick;
      long real = isLater ? monotonic + elapsed + offset : monotonic;
      BigInteger mult = BigInteger.valueOf(elapsed).shiftLeft(32).divide(BigInteger.valueOf(ticks));
      assertThat(clock.timeNs(at)).isEqualTo(expected(from, real, mult.longValueExact(), at));
    });
  }
}
