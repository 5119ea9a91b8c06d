package io.lifeline.console.alerts;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.Upserts;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** Asks the broker at most once in so many milliseconds, however many ask: others get the same answer, or error. */
public final class PacedUpserts implements Upserts {
  /** @param error null if there are values */
  private record Answer(Map<String, byte[]> values, HostException error, long atNs) {}

  private final Upserts broker;
  private final long paceNs;
  private final ReentrantLock turn = new ReentrantLock();
  private final Map<Destination, Answer> answers = new HashMap<>();

  public PacedUpserts(Upserts broker, long paceMs) {
    this.broker = broker;
    this.paceNs = TimeUnit.MILLISECONDS.toNanos(paceMs);
  }

  @Override
  public Map<String, byte[]> latest(Destination destination) throws HostException {
    turn.lock();
    try {
      Answer known = answers.get(destination);
      if (known == null || System.nanoTime() - known.atNs > paceNs) {
        known = ask(destination);
        answers.put(destination, known);
      }
      if (known.error != null) {
        throw new HostException(known.error.getMessage(), known.error);
      }
      return known.values;
    } finally {
      turn.unlock();
    }
  }

  /** The pace begins at the end: an answer that took long is not asked for again at once. */
  private Answer ask(Destination destination) {
    try {
      Map<String, byte[]> values = broker.latest(destination);
      return new Answer(values, null, System.nanoTime());
    } catch (HostException e) {
      return new Answer(null, e, System.nanoTime());
    }
  }
}
