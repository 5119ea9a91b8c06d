package io.lifeline.jobs.core;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * What time it is where a job's input comes from several sources with a reader each: the partitions of a topic, or the
 * groups of emitters of a stream. That is the time of the source that is furthest behind, since one that works off a
 * backlog lives in the past, whatever the others do. A source that has told nothing for a while has nothing to read,
 * and what it told before a restart says nothing of what there is now.
 */
public final class SourceClocks {

  private static final String PREFIX = "clock/";

  private final KeyedState state;
  private final LongSupplier nanoTime;
  private final int expected;
  private final long patienceNs;
  private final long startNs;
  private final Map<Integer, StreamClock> clocks = new TreeMap<>();
  private final Map<Integer, Long> heardNs = new HashMap<>();

  /**
   * @param nanoTime usually {@code System::nanoTime}
   * @param expected how many sources there are
   * @param patienceNs how long a silent source is waited for
   */
  public SourceClocks(KeyedState state, LongSupplier nanoTime, int expected, long patienceNs) {
    this.state = state;
    this.nanoTime = nanoTime;
    this.expected = expected;
    this.patienceNs = patienceNs;
    this.startNs = nanoTime.getAsLong();
    state.scan(PREFIX, (key, value) -> clock(Integer.parseInt(key.substring(PREFIX.length()))));
  }

  public void observe(int source, long brokerTimeMs) {
    clock(source).observe(brokerTimeMs);
    heardNs.put(source, nanoTime.getAsLong());
  }

  /** Whether a message has ever been seen; before that there is no time. */
  public boolean isSet() {
    return !clocks.isEmpty();
  }

  /** The time that all sources have reached which have something to read; the latest of all if none has. */
  public long nowMs() {
    return heardNs.entrySet().stream()
        .filter(heard -> isAwaited(heard.getValue()))
        .mapToLong(heard -> clocks.get(heard.getKey()).nowMs())
        .min()
        .orElseGet(this::latestMs);
  }

  /** Whether no source is waited for that has told nothing yet: its messages may be older than everybody's. */
  public boolean isComplete() {
    return heardNs.size() >= expected || !isAwaited(startNs);
  }

  public void save() {
    clocks.values().forEach(StreamClock::save);
  }

  private long latestMs() {
    return clocks.values().stream().mapToLong(StreamClock::nowMs).max().orElseThrow();
  }

  private boolean isAwaited(long sinceNs) {
    return nanoTime.getAsLong() - sinceNs < patienceNs;
  }

  private StreamClock clock(int source) {
    return clocks.computeIfAbsent(source, s -> new StreamClock(state, PREFIX + s, nanoTime));
  }
}
