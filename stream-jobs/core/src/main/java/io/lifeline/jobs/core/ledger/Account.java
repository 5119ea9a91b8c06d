package io.lifeline.jobs.core.ledger;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Counter;
import io.lifeline.jobs.core.Position;
import io.lifeline.jobs.core.StateReader;
import io.lifeline.jobs.core.StateWriter;
import java.util.Map;
import java.util.TreeMap;

/**
 * State of one route: the counters of its newest batch, and the number of batches and events received. The deduplicator
 * keeps the received sequences; here they are only counted.
 */
final class Account {

  private static final Counter[] COUNTERS = Counter.values();
  private static final int WITHOUT_OFFSETS = 1;
  private static final int NEWEST = 2;
  private static final int FINAL = 1;
  private static final int RECOVERED = 2;

  private final long[] counters = new long[COUNTERS.length];
  private String host = "";
  private String program = "";
  private String routeName = "";
  private long pid;
  private int flags;
  private long lastSequence;
  private long batches;
  private long events;
  private long repeats;
  private long skippedByRetention;
  private long retentionGapsSeen;
  private long firstMs;
  private long lastMs;
  private long revision;

  /** When the last batch arrived, by a {@link io.lifeline.jobs.core.RetentionClock}; 0 if not yet known. */
  private long heardMs;

  /** The incarnation that a derived route was made of; else empty. */
  private String derivedFrom = "";

  /** See {@link #eventsIn()}. */
  private long eventsIn;

  /** The last offset that a batch arrived at, by partition: several only if partitions were added meanwhile. */
  private final Map<Integer, Long> lastOffsets = new TreeMap<>();

  /** @param retentionGaps how often the broker's retention has removed unread messages until now */
  void add(BatchReader batch, Position position, long retentionGaps) {
    long inBatchesBefore = inBatches();
    boolean skips = Long.compareUnsigned(batch.sequence(), lastSequence + 1) > 0;
    if (Long.compareUnsigned(batch.sequence(), lastSequence) > 0) {
      lastSequence = batch.sequence();
      for (int i = 0; i < COUNTERS.length; i++) {
        counters[i] = batch.counter(COUNTERS[i]);
      }
      flags = (batch.isFinal() ? FINAL : 0) | (batch.isRecovered() ? RECOVERED : 0);
      if (skips && retentionGaps > retentionGapsSeen) {
        skippedByRetention += Math.max(0, inBatches() - batch.eventCount() - inBatchesBefore);
      }
      retentionGapsSeen = retentionGaps;
    }
    if (batches == 0) {
      host = batch.host();
      program = batch.program();
      routeName = batch.routeName();
      pid = batch.pid();
      firstMs = position.brokerTimeMs();
    }
    if (batch.isDerived()) {
      derivedFrom = batch.header().parent().incarnation().toString();
      eventsIn += batch.header().parent().eventsIn();
    }
    batches++;
    events += batch.eventCount();
    lastMs = Math.max(lastMs, position.brokerTimeMs());
    lastOffsets.merge(position.partition(), position.offset(), Math::max);
  }

  /**
   * Returns whether all batches are at earlier offsets than these; false if the offset of none is known, as in the
   * state of earlier releases.
   */
  boolean isPassed(Map<Integer, Long> ends) {
    return !lastOffsets.isEmpty()
        && lastOffsets.entrySet().stream().allMatch(last -> last.getValue() < ends.getOrDefault(last.getKey(), 0L));
  }

  void addRepeat() {
    repeats++;
  }

  long nextRevision() {
    return ++revision;
  }

  long counter(Counter counter) {
    return counters[counter.ordinal()];
  }

  /** Returns the events in all batches up to the newest: emitted less dropped before batching (FORMAT.md, 3.2). */
  long inBatches() {
    return counter(Counter.EMITTED)
        - counter(Counter.DROPPED_RING_FULL)
        - counter(Counter.DROPPED_NO_RING)
        - counter(Counter.DROPPED_REENTRANT)
        - counter(Counter.DROPPED_OVERSIZE)
        - counter(Counter.DROPPED_SHUTDOWN);
  }

  /** Returns the events of sealed batches that the emitter has dropped. */
  long givenUp() {
    return counter(Counter.DROPPED_SPOOL_FULL) + counter(Counter.DROPPED_SINK);
  }

  boolean isFinal() {
    return (flags & FINAL) != 0;
  }

  boolean isRecovered() {
    return (flags & RECOVERED) != 0;
  }

  String host() {
    return host;
  }

  String program() {
    return program;
  }

  String routeName() {
    return routeName;
  }

  long pid() {
    return pid;
  }

  long lastSequence() {
    return lastSequence;
  }

  long batches() {
    return batches;
  }

  long events() {
    return events;
  }

  long repeats() {
    return repeats;
  }

  long skippedByRetention() {
    return skippedByRetention;
  }

  long firstMs() {
    return firstMs;
  }

  long lastMs() {
    return lastMs;
  }

  /** @param nowMs 0 if not yet known */
  void heard(long nowMs) {
    heardMs = nowMs;
  }

  /** Returns whether no batch has arrived for that long. If the last arrival is unknown, the time starts now. */
  boolean isSilent(long nowMs, long forMs) {
    heardMs = heardMs == 0 ? nowMs : heardMs;
    return nowMs - heardMs > forMs;
  }

  /** Returns the incarnation of the emitter that the route was derived from; empty if it is not derived. */
  String derivedFrom() {
    return derivedFrom;
  }

  /** Returns the events of that emitter that the received batches account for, including those left out. */
  long eventsIn() {
    return eventsIn;
  }

  byte[] encode() {
    StateWriter out = new StateWriter().version(NEWEST);
    for (long counter : counters) {
      out.varint(counter);
    }
    out.text(host)
        .text(program)
        .text(routeName)
        .varint(pid)
        .varint(flags)
        .varint(lastSequence)
        .varint(batches)
        .varint(events)
        .varint(repeats)
        .varint(skippedByRetention)
        .varint(retentionGapsSeen)
        .varint(firstMs)
        .varint(lastMs)
        .varint(revision)
        .text(derivedFrom)
        .varint(eventsIn)
        .varint(heardMs)
        .varint(lastOffsets.size());
    lastOffsets.forEach((partition, offset) -> out.varint(partition).varint(offset));
    return out.toBytes();
  }

  static Account decode(byte[] bytes) {
    StateReader in = new StateReader(bytes);
    int version = in.versions(WITHOUT_OFFSETS, NEWEST);
    Account account = new Account();
    for (int i = 0; i < COUNTERS.length; i++) {
      account.counters[i] = in.varint();
    }
    account.host = in.text();
    account.program = in.text();
    account.routeName = in.text();
    account.pid = in.varint();
    account.flags = (int) in.varint();
    account.lastSequence = in.varint();
    account.batches = in.varint();
    account.events = in.varint();
    account.repeats = in.varint();
    account.skippedByRetention = in.varint();
    account.retentionGapsSeen = in.varint();
    account.firstMs = in.varint();
    account.lastMs = in.varint();
    account.revision = in.varint();
    if (!in.atEnd()) {
      account.derivedFrom = in.text();
      account.eventsIn = in.varint();
    }
    account.heardMs = in.atEnd() ? account.lastMs : in.varint();
    for (int left = version > WITHOUT_OFFSETS ? in.count(2) : 0; left > 0; left--) {
      account.lastOffsets.put((int) in.varint(), in.varint());
    }
    return account;
  }
}
