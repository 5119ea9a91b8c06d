package io.lifeline.console.events;

import io.lifeline.codec.BatchReader;
import io.lifeline.codec.Incarnation;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * The newest batches of a broker, up to a number of bytes. Events are numbered from 0 in the order in which the broker
 * delivers them. One thread adds; any thread reads.
 */
public final class EventLog {
  /** Bytes that a batch takes beyond its own. */
  private static final int OVERHEAD = 300;

  /**
   * A batch.
   *
   * @param first number of its first event
   * @param bytesBefore size of all batches before it, those that have left the log included
   */
  record Stored(long first, int events, long brokerTimeMs, Incarnation incarnation, String program, String host,
      byte[] data, long bytesBefore) {
    long end() {
      return first + events;
    }

    long size() {
      return data.length + OVERHEAD;
    }
  }

  private final TreeMap<Long, Stored> batches = new TreeMap<>();
  private final String run = HexFormat.of().toHexDigits(new SecureRandom().nextInt());
  private final long capacity;
  private long next;
  private long bytesAdded;
  private long bytesGone;
  private long completeSinceMs = Long.MAX_VALUE;
  /** Number of the first event that arrived while nothing was waiting at the broker; -1 until then. */
  private long live = -1;

  /** @param capacity bytes that the batches may take */
  public EventLog(long capacity) {
    this.capacity = capacity;
  }

  /** Returns a name of this log: numbers of another one mean other events. */
  public String run() {
    return run;
  }

  /** Is called before the first batch: the log gets all batches that the broker has stored since then. */
  public synchronized void begin(long sinceMs) {
    completeSinceMs = sinceMs;
  }

  /** Adds a batch without repeats. */
  public synchronized void add(BatchReader batch, byte[] data, long brokerTimeMs) {
    if (batch.eventCount() == 0) {
      return;
    }
    Stored stored = new Stored(next, batch.eventCount(), brokerTimeMs, batch.incarnation(), batch.program(),
        batch.host(), data, bytesAdded);
    batches.put(next, stored);
    next = stored.end();
    bytesAdded += stored.size();
    while (bytesAdded - bytesGone > capacity && batches.size() > 1) {
      Stored gone = batches.pollFirstEntry().getValue();
      bytesGone += gone.size();
      completeSinceMs = Math.max(completeSinceMs, gone.brokerTimeMs() + 1);
    }
    notifyAll();
  }

  /** Is called when all batches that were waiting at the broker have been added. */
  public synchronized void caughtUp() {
    if (live < 0) {
      live = next;
      notifyAll();
    }
  }

  /** Waits for {@link #caughtUp}, and returns the number that the next event had then. */
  synchronized long awaitLive() throws InterruptedException {
    while (live < 0) {
      wait();
    }
    return live;
  }

  synchronized boolean isLive() {
    return live >= 0;
  }

  /** Returns the batch with that event, or the oldest one if it has left the log; null on timeout. */
  synchronized Stored await(long number, long timeoutMs) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    while (number >= next && deadline - System.nanoTime() > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, deadline - System.nanoTime());
    }
    if (number >= next) {
      return null;
    }
    Map.Entry<Long, Stored> found = batches.floorEntry(number);
    return found != null ? found.getValue() : batches.firstEntry().getValue();
  }

  /** Returns the number that the next event gets. */
  synchronized long next() {
    return next;
  }

  /** Returns the number of the oldest event in the log. */
  synchronized long oldest() {
    return batches.isEmpty() ? next : batches.firstKey();
  }

  /** Returns the number of the first event that the broker stored at that time or later. */
  synchronized long firstSince(long timeMs) {
    return batches.values().stream().filter(batch -> batch.brokerTimeMs() >= timeMs).mapToLong(Stored::first)
        .findFirst().orElse(next);
  }

  /** Returns the time since which no batch is missing, as the broker stored them. */
  synchronized long completeSinceMs() {
    return completeSinceMs;
  }

  /** Returns whether more than half of what the log may hold is newer than the batch, which will leave it soon. */
  synchronized boolean isOld(Stored batch) {
    return bytesAdded - batch.bytesBefore() > capacity / 2;
  }

  /** Returns whether the event is one of this log that has not arrived yet. */
  public synchronized boolean isAhead(EventId id) {
    return id.run().equals(run) && id.number() >= next;
  }

  /** Returns the bytes of the batches. */
  public synchronized long size() {
    return bytesAdded - bytesGone;
  }
}
