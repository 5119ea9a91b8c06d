package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;

/**
 * Characteristics of a component between two changes. Levels are of logarithms, except use.
 *
 * @param samples number of samples
 * @param rate bytes per second if all threads were at work, where intervals count by the work in them
 * @param unevenness coefficient of variation of the operations' durations within an interval
 * @param throughput bytes per second of elapsed time
 * @param use share of its threads' time spent at work; of unknown threads, the largest possible share. No logarithms
 * @param threads mean number of threads of an emitter; 0 if it is unknown for any
 * @param leastUse least use of one sample
 * @param mostUse greatest use of one sample
 */
record ComponentStats(
    int samples,
    Level rate,
    Level unevenness,
    Level throughput,
    Level use,
    double threads,
    double leastUse,
    double mostUse) {

  boolean areThreadsKnown() {
    return threads > 0;
  }

  /** Returns the same, with the uncertainty of the use from a longer series as well: {@link Level#withNoiseOf}. */
  ComponentStats withNoiseOf(ComponentStats longer) {
    return new ComponentStats(
        samples, rate, unevenness, throughput, use.withNoiseOf(longer.use), threads, leastUse, mostUse);
  }

  void encode(StateWriter out) {
    out.varint(samples);
    rate.encode(out);
    unevenness.encode(out);
    throughput.encode(out);
    use.encode(out);
    out.real(threads).real(leastUse).real(mostUse);
  }

  static ComponentStats decode(StateReader in) {
    return new ComponentStats((int) in.varint(), Level.decode(in), Level.decode(in), Level.decode(in), Level.decode(in),
        in.real(), in.real(), in.real());
  }
}
