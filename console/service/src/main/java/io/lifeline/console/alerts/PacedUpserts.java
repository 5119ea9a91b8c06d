package io.lifeline.console.alerts;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.Upserts;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Asks the broker at most once in so many milliseconds, however many ask: others get the same answer, or error. While
 * the broker lets the one who asks wait, others get the answer before.
 */
public final class PacedUpserts implements Upserts {
  private static final long TURN_MS = 1_000;

  /** @param error null if there are values */
  private record Answer(Map<String, byte[]> values, HostException error, long atNs) {}

  private final Upserts broker;
  private final long paceNs;
  private final ReentrantLock turn = new ReentrantLock();
  private final Map<Destination, Answer> answers = new ConcurrentHashMap<>();

  public PacedUpserts(Upserts broker, long paceMs) {
    this.broker = broker;
    this.paceNs = TimeUnit.MILLISECONDS.toNanos(paceMs);
  }

  @Override
  public Map<String, byte[]> latest(Destination destination) throws HostException {
    Answer answer = isTurn() ? fresh(destination) : answers.get(destination);
    if (answer == null) {
      throw new HostException("the broker has not answered yet");
    }
    if (answer.error != null) {
      throw new HostException(answer.error.getMessage(), answer.error);
    }
    return answer.values;
  }

  private boolean isTurn() throws HostException {
    try {
      return turn.tryLock(TURN_MS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HostException("interrupted while waiting for the broker", e);
    }
  }

  private Answer fresh(Destination destination) {
    try {
      Answer known = answers.get(destination);
      if (known != null && System.nanoTime() - known.atNs <= paceNs) {
        return known;
      }
      Answer now = ask(destination);
      answers.put(destination, now);
      return now;
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
