package io.lifeline.codec;

/** Converts ticks to nanoseconds since the Unix epoch, exactly as FORMAT section 7 specifies. */
final class TickClock {
  static final int ENTRY = 32;
  static final long MAX_TICK_HZ = 100_000_000_000L;

  private static final int STEP = 1;

  /** Ticks that are converted together. */
  private static final int CHUNK = 256;

  private static final long MAX_MULT = (1L << 62) - 1;
  private static final long OUT_OF_RANGE = -1;

  private int count;
  private long[] tick = new long[4];
  private long[] monotonic = new long[4];
  private long[] real = new long[4];
  private long[] error = new long[4];
  private boolean[] step = new boolean[4];

  /** By calibration: the length of a tick from there on, in 2^-32 ns. */
  private long[] mult = new long[4];

  /** The current calibration, and the ticks it applies to: from {@code spanFrom}, for this many ticks. */
  private long currentTick;

  private long currentReal;
  private long currentMult;
  private long spanFrom;
  private long spanTicks;

  /** Reads and checks {@code entries} calibrations at {@code at}; offsets are reported from {@code start}. */
  void load(byte[] bytes, int at, int entries, boolean bigEndian, long tickHz, int start, Findings findings) {
    count = entries;
    reserve(entries);
    for (int i = 0; i < entries; i++, at += ENTRY) {
      tick[i] = Bytes.getLong(bytes, at, bigEndian);
      monotonic[i] = Bytes.getLong(bytes, at + 8, bigEndian);
      long offset = Bytes.getLong(bytes, at + 16, bigEndian);
      real[i] = monotonic[i] + offset;
      error[i] = Bytes.getU32(bytes, at + 24, bigEndian);
      int flags = Bytes.getInt(bytes, at + 28, bigEndian);
      step[i] = (flags & STEP) != 0;
      if ((flags & ~STEP) != 0) {
        findings.report(Fault.BAD_FLAG, at + 28 - start, "a reserved bit of a calibration is set");
      }
      String disorder = disorder(i, offset);
      if (disorder != null) {
        findings.report(Fault.BAD_CALIBRATION, at - start, disorder);
      }
    }
    if (findings.count() == 0) {
      computeRates(tickHz, at - entries * ENTRY - start, findings);
      use(0);
    }
  }

  /** Describes the fault of calibration {@code i}, or null. */
  private String disorder(int i, long offset) {
    // A monotonic reading is unsigned: from 2^63 on (negative here) only a negative offset can bring it into i64.
    boolean fits = monotonic[i] < 0 ? offset < 0 && real[i] >= 0 : offset < 0 || real[i] >= 0;
    if (!fits) {
      return "a calibration's time does not fit 64 bits";
    }
    if (i == 0) {
      return step[0] ? "the first calibration says that the clock was set before it" : null;
    }
    if (Long.compareUnsigned(tick[i], tick[i - 1]) <= 0) {
      return "the ticks of the calibrations do not increase";
    }
    if (Long.compareUnsigned(monotonic[i], monotonic[i - 1]) < 0) {
      return "the monotonic clock of the calibrations goes back";
    }
    return !step[i] && real[i] < real[i - 1] ? "the realtime clock goes back without being set" : null;
  }

  private void computeRates(long tickHz, int at, Findings findings) {
    if (count == 1) {
      mult[0] = Long.divideUnsigned(1_000_000_000L << 32, tickHz);
      return;
    }
    for (int b = 1; b < count; b++) {
      long elapsed = step[b] ? monotonic[b] - monotonic[b - 1] : real[b] - real[b - 1];
      mult[b - 1] = rate(elapsed, tick[b] - tick[b - 1]);
      if (mult[b - 1] == OUT_OF_RANGE) {
        findings.report(Fault.BAD_CALIBRATION, at + b * ENTRY, "two calibrations make a tick impossibly long");
      }
    }
    mult[count - 1] = mult[count - 2];
  }

  /** Returns {@code floor((elapsed << 32) / ticks)} of two unsigned numbers, or OUT_OF_RANGE from 2^62 on. */
  private static long rate(long elapsed, long ticks) {
    long quotient = Long.divideUnsigned(elapsed, ticks);
    if (Long.compareUnsigned(quotient, MAX_MULT >>> 32) > 0) {
      return OUT_OF_RANGE;
    }
    long remainder = Long.remainderUnsigned(elapsed, ticks);
    for (int bit = 0; bit < 32; bit++) {
      boolean carry = remainder < 0;
      remainder <<= 1;
      quotient <<= 1;
      if (carry || Long.compareUnsigned(remainder, ticks) >= 0) {
        remainder -= ticks;
        quotient |= 1;
      }
    }
    return quotient;
  }

  /** Returns the time of a tick, in nanoseconds since the Unix epoch. */
  long timeNs(long at) {
    if (Long.compareUnsigned(at - spanFrom, spanTicks) > 0) {
      use(lastNotAfter(at));
    }
    long ticks = at - currentTick;
    return currentReal + (Math.multiplyHigh(ticks, currentMult) << 32) + (ticks * currentMult >>> 32);
  }

  /**
   * Converts the ticks of records that start at {@code at} and each {@code stride} bytes further, into {@code to} from
   * {@code first} on.
   */
  void timesNs(
      long[] to, int first, int last, byte[] raw, int at, int stride, boolean bigEndian, long baseTick) {
    for (int i = first; i < last; i += CHUNK, at += CHUNK * stride) {
      int behind = Math.min(i + CHUNK, last);
      if (!convert(to, i, behind, raw, at, stride, bigEndian, baseTick)) {
        for (int k = i; k < behind; k++) {
          long word = Bytes.getLong(raw, at + (k - i) * stride, bigEndian);
          to[k] = timeNs(BatchReader.fullTick(word, baseTick));
        }
      }
    }
  }

  /**
   * The same by the calibration of the first tick, without a decision per value. Returns false if another one applies
   * to a later tick, if a tick lies before the calibration, or if a product does not fit 63 bits.
   */
  private boolean convert(
      long[] to, int first, int last, byte[] raw, int at, int stride, boolean bigEndian, long baseTick) {
    timeNs(BatchReader.fullTick(Bytes.getLong(raw, at, bigEndian), baseTick));
    long start = currentTick;
    long mult = currentMult;
    long realNs = currentReal;
    long spanEnd = spanFrom + spanTicks - start;
    long limit = Long.MAX_VALUE / Math.max(mult, 1);
    if (spanEnd >= 0) {
      limit = Math.min(limit, spanEnd);
    }
    long outside = 0;
    for (int i = first; i < last; i++, at += stride) {
      long ticks = BatchReader.fullTick(Bytes.getLong(raw, at, bigEndian), baseTick) - start;
      outside |= ticks | limit - ticks;
      to[i] = realNs + (ticks * mult >>> 32);
    }
    return outside >= 0;
  }

  private int lastNotAfter(long at) {
    int low = 0;
    int high = count - 1;
    while (low < high) {
      int middle = low + high + 1 >>> 1;
      if (Long.compareUnsigned(tick[middle], at) <= 0) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  private void use(int i) {
    currentTick = tick[i];
    currentReal = real[i];
    currentMult = mult[i];
    // The first calibration also applies to ticks before it.
    spanFrom = i == 0 ? 0 : tick[i];
    spanTicks = (i == count - 1 ? -1 : tick[i + 1] - 1) - spanFrom;
  }

  int count() {
    return count;
  }

  Calibration calibration(int i) {
    return new Calibration(tick[i], monotonic[i], real[i] - monotonic[i], error[i], step[i]);
  }

  private void reserve(int entries) {
    if (entries > tick.length) {
      tick = new long[entries];
      monotonic = new long[entries];
      real = new long[entries];
      error = new long[entries];
      step = new boolean[entries];
      mult = new long[entries];
    }
  }
}
