package io.lifeline.jobs.core.directory;

import io.lifeline.codec.Counter;
import io.lifeline.codec.Incarnation;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An emitter as it is at one moment.
 *
 * @param firstMs broker's time of its first batch since the directory began, in ms since 1970
 * @param lastMs of its newest batch
 * @param ended it said that nothing more will come
 * @param recovered a recovery sent its last batch, since its process died
 * @param eventsPerSecond of the last minute
 * @param types how many event types it has emitted
 * @param counters the sums over its routes
 * @param clockMs the least time from its clock to the broker's when a batch arrived, in the last minutes: the
 *     transport and the difference of the clocks; negative if its clock is ahead. Null without a recent batch
 * @param clockErrorNs the error with which its ticks were converted to time
 * @param clockUncertain its ticks have jumped without explanation
 * @param answers what it said of activations, by id
 */
public record EmitterRow(Incarnation incarnation, String program, String host, long pid, long firstMs, long lastMs,
    boolean ended, boolean recovered, double eventsPerSecond, int types, Map<Counter, Long> counters, Long clockMs,
    long clockErrorNs, boolean clockUncertain, Map<String, Answer> answers) {

  private static final Counter[] DROPS = {Counter.DROPPED_RING_FULL, Counter.DROPPED_NO_RING,
      Counter.DROPPED_REENTRANT, Counter.DROPPED_OVERSIZE, Counter.DROPPED_SHUTDOWN, Counter.DROPPED_SPOOL_FULL,
      Counter.DROPPED_SINK};
  private static final int PREFIX = "dropped_".length();

  /** Returns the events that the emitter dropped, by reason; without those of which there are none. */
  public Map<String, Long> drops() {
    Map<String, Long> drops = new LinkedHashMap<>();
    for (Counter counter : DROPS) {
      if (counters.get(counter) != 0) {
        drops.put(counter.label().substring(PREFIX), counters.get(counter));
      }
    }
    return drops;
  }
}
