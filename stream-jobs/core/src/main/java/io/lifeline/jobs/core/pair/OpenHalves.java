package io.lifeline.jobs.core.pair;

import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import io.lifeline.jobs.core.derive.EmitterStates;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The halves of one emitter's pairs that wait for their counterparts, the oldest first. The end may arrive before the
 * start, if the start was delayed in a spool.
 */
final class OpenHalves implements EmitterStates.State {

  /**
   * A waiting half.
   *
   * @param timeNs of the event
   * @param sinceMs stream time when its batch arrived
   */
  record Waiting(boolean isStart, long timeNs, long sinceMs) {}

  /** All halves are saved as one value, and Kafka's clients send at most a megabyte. */
  private static final int MAX_BYTES = 768 << 10;

  private final Map<Pair, Waiting> waiting = new LinkedHashMap<>();
  private int bytes;

  /** Stream time when this emitter's newest batch arrived. */
  private long lastMs;

  @Override
  public long lastMs() {
    return lastMs;
  }

  int size() {
    return waiting.size();
  }

  /**
   * Adds a half, unless it completes a pair.
   *
   * @return the counterpart, which is removed; or the half of the same side that was replaced; else null
   */
  Waiting add(Pair pair, boolean isStart, long timeNs, long nowMs) {
    Waiting other = waiting.remove(pair);
    bytes -= other == null ? 0 : pair.bytes();
    if (other == null || other.isStart() == isStart) {
      put(pair, new Waiting(isStart, timeNs, nowMs));
    }
    return other;
  }

  private void put(Pair pair, Waiting half) {
    waiting.put(pair, half);
    bytes += pair.bytes();
  }

  /** Removes halves that have waited too long, and the oldest if there are too many; returns how many. */
  int giveUp(long nowMs, long timeoutMs, int maxOpen) {
    lastMs = nowMs;
    int before = waiting.size();
    Iterator<Map.Entry<Pair, Waiting>> oldest = waiting.entrySet().iterator();
    while (oldest.hasNext()) {
      Map.Entry<Pair, Waiting> half = oldest.next();
      boolean isOverdue = nowMs - half.getValue().sinceMs() > timeoutMs;
      if (!isOverdue && waiting.size() <= maxOpen && bytes <= MAX_BYTES) {
        break;
      }
      bytes -= half.getKey().bytes();
      oldest.remove();
    }
    return before - waiting.size();
  }

  @Override
  public byte[] encode() {
    StateWriter out = new StateWriter().version(1).varint(lastMs).varint(waiting.size());
    waiting.forEach(
        (pair, half) -> {
          pair.encode(out);
          out.fixed8(half.isStart() ? 1 : 0).zigzag(half.timeNs()).varint(half.sinceMs());
        });
    return out.toBytes();
  }

  static OpenHalves decode(byte[] bytes) {
    StateReader in = new StateReader(bytes).version(1);
    OpenHalves open = new OpenHalves();
    open.lastMs = in.varint();
    for (int left = in.count(5); left > 0; left--) {
      Pair pair = Pair.decode(in);
      open.put(pair, new Waiting(in.fixed8() == 1, in.zigzag(), in.varint()));
    }
    return open;
  }
}
