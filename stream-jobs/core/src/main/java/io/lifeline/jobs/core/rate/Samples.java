package io.lifeline.jobs.core.rate;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import io.lifeline.jobs.core.derive.EmitterStates;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** The latest event of each series of one emitter, the most recent one last. */
final class Samples implements EmitterStates.State {

  /** Values of one event; floats as their bits. */
  record Sample(long timeNs, long[] values) {}

  /** Kafka clients send at most a megabyte, and all series of an emitter are saved as one value. */
  private static final int MAX_BYTES = 768 << 10;

  private static final int SAMPLE_BYTES = 32;
  private static final int NUMBER_BYTES = 10;

  private final Map<String, Sample> latest = new LinkedHashMap<>();
  private int bytes;
  private long lastMs;

  @Override
  public long lastMs() {
    return lastMs;
  }

  /** Returns the previous event of the series, or null. A late event replaces nothing. */
  Sample replace(String series, Sample now) {
    Sample previous = latest.get(series);
    if (previous == null || previous.timeNs() < now.timeNs()) {
      latest.remove(series);
      latest.put(series, now);
      bytes += previous == null ? bytes(series, now) : 0;
    }
    return previous;
  }

  private static int bytes(String series, Sample sample) {
    return SAMPLE_BYTES + 3 * series.length() + NUMBER_BYTES * sample.values().length;
  }

  /** Forgets the oldest series if all together are too large, and returns how many. */
  int bound(long nowMs) {
    lastMs = nowMs;
    int before = latest.size();
    for (Iterator<Map.Entry<String, Sample>> oldest = latest.entrySet().iterator(); bytes > MAX_BYTES; ) {
      Map.Entry<String, Sample> entry = oldest.next();
      bytes -= bytes(entry.getKey(), entry.getValue());
      oldest.remove();
    }
    return before - latest.size();
  }

  @Override
  public byte[] encode() {
    StateWriter out = new StateWriter().version(1).varint(lastMs).varint(latest.size());
    latest.forEach(
        (series, sample) -> {
          out.text(series).zigzag(sample.timeNs()).varint(sample.values().length);
          for (long value : sample.values()) {
            out.zigzag(value);
          }
        });
    return out.toBytes();
  }

  static Samples decode(byte[] bytes) {
    StateReader in = new StateReader(bytes).version(1);
    Samples samples = new Samples();
    samples.lastMs = in.varint();
    for (int left = in.count(3); left > 0; left--) {
      String series = in.text();
      long timeNs = in.zigzag();
      long[] values = new long[in.count(1)];
      for (int i = 0; i < values.length; i++) {
        values[i] = in.zigzag();
      }
      samples.replace(series, new Sample(timeNs, values));
    }
    return samples;
  }
}
