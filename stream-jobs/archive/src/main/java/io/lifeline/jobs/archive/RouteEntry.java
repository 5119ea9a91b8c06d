package io.lifeline.jobs.archive;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Counter;
import io.lifeline.codec.Incarnation;
import io.lifeline.jobs.core.RouteKey;
import io.lifeline.jobs.core.SequenceSet;
import java.util.ArrayList;
import java.util.List;

/**
 * A manifest's summary of one (incarnation, route).
 *
 * @param runs first and last of each run of sequences; unsigned, in decimal text
 * @param lastSequence the highest sequence; counters and flags are those of its batch
 * @param counters in the order of {@link Counter}; unsigned, in decimal text
 * @param lastBrokerTimeMs when the broker stored the newest of the batches
 */
public record RouteEntry(
    String incarnation,
    int route,
    String routeName,
    String host,
    String program,
    long pid,
    List<List<String>> runs,
    long batches,
    long events,
    String lastSequence,
    List<String> counters,
    boolean finalBatch,
    boolean recovered,
    long lastBrokerTimeMs) {

  /**
   * Maximum number of runs; beyond it the shortest runs are forgotten, as in {@link
   * io.lifeline.jobs.core.Deduplicator}.
   */
  private static final int MAX_RUNS = 10_000;

  @JsonIgnore
  public RouteKey key() {
    return new RouteKey(Incarnation.parse(incarnation), route);
  }

  public long counter(Counter counter) {
    return Long.parseUnsignedLong(counters.get(counter.ordinal()));
  }

  /** Returns how many sequences up to the last one are not archived; unsigned. */
  public long missingBatches() {
    return Long.parseUnsignedLong(lastSequence) - batches;
  }

  /** Merges the entries of two manifests. */
  public static RouteEntry merge(RouteEntry a, RouteEntry b) {
    long lastOfA = Long.parseUnsignedLong(a.lastSequence);
    long lastOfB = Long.parseUnsignedLong(b.lastSequence);
    RouteEntry newest = Long.compareUnsigned(lastOfA, lastOfB) >= 0 ? a : b;
    SequenceSet sequences = new SequenceSet();
    a.addTo(sequences);
    b.addTo(sequences);
    sequences.forgetShortest(MAX_RUNS, Long.parseUnsignedLong(newest.lastSequence));
    return new RouteEntry(newest.incarnation, newest.route, newest.routeName, newest.host, newest.program, newest.pid,
        runs(sequences), a.batches + b.batches, a.events + b.events, newest.lastSequence, newest.counters,
        a.finalBatch || b.finalBatch, a.recovered || b.recovered, Math.max(a.lastBrokerTimeMs, b.lastBrokerTimeMs));
  }

  /** Returns whether it has any of these sequences, as far as its runs are still known; false for null. */
  public boolean holdsAny(SequenceSet sequences) {
    return sequences != null && runs.stream().anyMatch(run ->
        sequences.containsAny(Long.parseUnsignedLong(run.get(0)), Long.parseUnsignedLong(run.get(1))));
  }

  private void addTo(SequenceSet sequences) {
    forEachRun(sequences::addRun);
  }

  public void forEachRun(SequenceSet.RunVisitor visitor) {
    for (List<String> run : runs) {
      visitor.run(Long.parseUnsignedLong(run.get(0)), Long.parseUnsignedLong(run.get(1)));
    }
  }

  private static List<List<String>> runs(SequenceSet sequences) {
    List<List<String>> runs = new ArrayList<>();
    sequences.forEachRun((first, last) -> runs.add(List.of(Long.toUnsignedString(first), Long.toUnsignedString(last))));
    return runs;
  }

  /** Builds an entry batch by batch. */
  public static final class Builder {
    private final SequenceSet sequences = new SequenceSet();
    private final long[] counters = new long[Counter.values().length];
    private String incarnation;
    private int route;
    private String routeName;
    private String host;
    private String program;
    private long pid;
    private long batches;
    private long events;
    private long lastSequence;
    private boolean finalBatch;
    private boolean recovered;
    private long lastBrokerTimeMs;

    public void add(BatchReader batch, long brokerTimeMs) {
      sequences.add(batch.sequence());
      batches++;
      events += batch.eventCount();
      finalBatch |= batch.isFinal();
      recovered |= batch.isRecovered();
      lastBrokerTimeMs = Math.max(lastBrokerTimeMs, brokerTimeMs);
      if (Long.compareUnsigned(batch.sequence(), lastSequence) > 0) {
        lastSequence = batch.sequence();
        incarnation = batch.incarnation().toString();
        route = batch.route();
        routeName = Sql.clean(batch.routeName());
        host = Sql.clean(batch.host());
        program = Sql.clean(batch.program());
        pid = batch.pid();
        for (Counter counter : Counter.values()) {
          counters[counter.ordinal()] = batch.counter(counter);
        }
      }
    }

    public RouteEntry build() {
      List<String> counterTexts = new ArrayList<>();
      for (long counter : counters) {
        counterTexts.add(Long.toUnsignedString(counter));
      }
      return new RouteEntry(incarnation, route, routeName, host, program, pid, runs(sequences), batches, events,
          Long.toUnsignedString(lastSequence), counterTexts, finalBatch, recovered, lastBrokerTimeMs);
    }
  }
}
