package io.lifeline.jobs.core.bottleneck;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;

/**
 * Characteristics of a component between two changes. Levels are of logarithms.
 *
 * @param samples number of samples
 * @param rate bytes per second of work, where intervals count by the work in them
 * @param unevenness coefficient of variation of the operations' durations within an interval
 * @param throughput bytes per second of elapsed time
 * @param busy share of the time spent at work; above 1 if operations overlap
 */
record ComponentStats(int samples, Level rate, Level unevenness, Level throughput, double busy) {

  void encode(StateWriter out) {
    out.varint(samples);
    rate.encode(out);
    unevenness.encode(out);
    throughput.encode(out);
    out.real(busy);
  }

  static ComponentStats decode(StateReader in) {
    return new ComponentStats((int) in.varint(), Level.decode(in), Level.decode(in), Level.decode(in), in.real());
  }
}
