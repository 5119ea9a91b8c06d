package io.lifeline.jobs.core.rate;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import io.lifeline.jobs.core.derive.EmitterStates;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** The latest event of each series of one emitter, the most recent one last: its time, then the bits of its values. */
final class Samples implements EmitterStates.State {

  /** Kafka clients send at most a megabyte, and all series of an emitter are saved as one value. */
  private static final int MAX_BYTES = 768 << 10;

  private static final int NUMBER_BYTES = 10;

  private final Map<String, long[]> latest = new LinkedHashMap<>();
  private int bytes;
  private long lastMs;

  @Override
  public long lastMs() {
    return lastMs;
  }

  /** Returns the previous event of the series, or null. */
  long[] replace(String series, long[] now) {
    long[] previous = latest.remove(series);
    latest.put(series, now);
    bytes += bytes(series, now) - (previous == null ? 0 : bytes(series, previous));
    return previous;
  }

  /** Returns the most that the sample takes when it is saved. */
  private static int bytes(String series, long[] sample) {
    return 3 * series.length() + NUMBER_BYTES * (sample.length + 2);
  }

  /** Forgets the oldest series if all together are too large, and returns how many. */
  int bound(long nowMs) {
    lastMs = nowMs;
    int before = latest.size();
    for (Iterator<Map.Entry<String, long[]>> all = latest.entrySet().iterator(); bytes > MAX_BYTES && all.hasNext(); ) {
      Map.Entry<String, long[]> oldest = all.next();
      bytes -= bytes(oldest.getKey(), oldest.getValue());
      all.remove();
    }
    return before - latest.size();
  }

  @Override
  public byte[] encode() {
    StateWriter out = new StateWriter().version(1).varint(lastMs).varint(latest.size());
    latest.forEach(
        (series, sample) -> {
          out.text(series).varint(sample.length);
          for (long value : sample) {
            out.zigzag(value);
          }
        });
    return out.toBytes();
  }

  static Samples decode(byte[] bytes) {
    StateReader in = new StateReader(bytes).version(1);
    Samples samples = new Samples();
    samples.lastMs = in.varint();
    for (int left = in.count(2); left > 0; left--) {
      String series = in.text();
      long[] sample = new long[in.count(1)];
      for (int i = 0; i < sample.length; i++) {
        sample[i] = in.zigzag();
      }
      samples.replace(series, sample);
    }
    return samples;
  }
}
