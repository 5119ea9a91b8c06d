package io.lifeline.jobs.core;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * Stream time of an input with several sources and a reader for each: the partitions of a topic, or the groups of
 * emitters of a stream. It is the time of the source that is furthest behind, since a source with a backlog is in the
 * past, whatever the others do. A source that has been silent for a while is considered empty. Times from before a
 * restart do not hold the clock back.
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
   * @param expected the number of sources
   * @param patienceNs how long to wait for a silent source
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

  /** Returns whether a message has ever been seen; before that, the time is undefined. */
  public boolean isSet() {
    return !clocks.isEmpty();
  }

  /** Returns the time that all sources with recent input have reached; the latest of all sources if none has any. */
  public long nowMs() {
    return heardNs.entrySet().stream()
        .filter(heard -> isAwaited(heard.getValue()))
        .mapToLong(heard -> clocks.get(heard.getKey()).nowMs())
        .min()
        .orElseGet(this::latestMs);
  }

  /** Returns false while a source has not been heard and is waited for: its messages may be older than all others. */
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
