package io.lifeline.console.events;

import io.lifeline.codec.BatchReader;
import io.lifeline.jobs.core.Timestamps;
import io.lifeline.jobs.core.decode.EventJson;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves the events that a subscriber wants from the log into its queue, on a thread of its own. It waits while the
 * queue is full, and skips events, which it counts, only when they would otherwise leave the log unread. If it cannot
 * even look at them in time, it counts all of them, selected or not.
 */
public final class Subscription implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Subscription.class);
  private static final long POLL_MS = 500;
  private static final long CLOCKS_MS = 1000; // by which the broker's clock may be behind

  private final EventLog log;
  private final Start start;
  private final EventQueue queue;
  private final EventSelector selector;
  private final EventJson json = new EventJson();
  private final Thread thread = new Thread(this::run, "lifeline-subscription");
  private final long begunMs = System.currentTimeMillis();
  private final boolean wasLive;
  /** Number of the next event; -1 until the log has read old batches. */
  private long next = -1;
  private boolean isSkipping;

  private Subscription(EventLog log, EventFilter filter, Start start, EventQueue queue) {
    this.log = log;
    this.start = start;
    this.queue = queue;
    this.selector = new EventSelector(filter);
    this.wasLive = log.isLive();
    if (wasLive) {
      next = first(log.next());
    }
  }

  /**
   * Starts to fill the queue: with all events that are added to the log from now on, at least. While the log is still
   * reading what was waiting at the broker, with those that the broker stored from now on.
   */
  public static Subscription start(EventLog log, EventFilter filter, Start start, EventQueue queue) {
    Subscription subscription = new Subscription(log, filter, start, queue);
    subscription.thread.setDaemon(true);
    subscription.thread.start();
    return subscription;
  }

  private void run() {
    try {
      if (next < 0) {
        next = first(log.awaitLive()); // the thread may run late: events may have been added since
      }
      while (!Thread.currentThread().isInterrupted()) {
        EventLog.Stored batch = log.await(next, POLL_MS);
        if (batch != null) {
          if (batch.first() > next) {
            queue.skip(batch.first() - next); // they left the log before they could be looked at
            next = batch.first();
          }
          enqueue(batch, (int) (next - batch.first()));
          next = batch.end();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Returns the number of the first event, and reports events that are missing before it.
   *
   * @param now the number of the first event of a subscription that begins now
   */
  private long first(long now) {
    EventId after = start.after();
    if (after != null && after.run().equals(log.run())) {
      long wanted = after.number() + 1;
      long oldest = log.oldest();
      if (wanted < oldest) {
        queue.gap(new EventQueue.Gap(
            "the events after " + after + " have left the console's memory: the archive has them", oldest - wanted));
      }
      return Math.max(wanted, oldest);
    }
    if (after != null) {
      queue.gap(new EventQueue.Gap("the event " + after + " is of an earlier run of the console: events since then may"
          + " be missing here, and the archive has them", null));
    }
    if (start.history() != null) {
      return since(System.currentTimeMillis() - start.history().toMillis());
    }
    return wasLive ? now : Math.min(now, since(begunMs - CLOCKS_MS));
  }

  /** Returns the number of the first event that the broker stored since then. */
  private long since(long sinceMs) {
    long completeMs = log.completeSinceMs();
    if (completeMs > sinceMs) {
      queue.gap(new EventQueue.Gap("the console's memory has all events since "
          + Timestamps.iso(TimeUnit.MILLISECONDS.toNanos(completeMs)) + " only: the archive has earlier ones", null));
    }
    return log.firstSince(sinceMs);
  }

  private void enqueue(EventLog.Stored batch, int fromIndex) throws InterruptedException {
    isSkipping = queue.isFull() && log.isOld(batch);
    try {
      String incarnation = batch.incarnation().toString();
      selector.select(batch, fromIndex, event -> enqueue(batch, event, incarnation));
    } catch (RuntimeException | StackOverflowError e) { // of a subscriber's condition, for example
      LOG.error("events of {} are skipped for a subscriber: {}", batch.program(), e.toString());
      queue.skip(batch.events() - fromIndex);
    }
  }

  private void enqueue(EventLog.Stored batch, BatchReader event, String incarnation) throws InterruptedException {
    if (isSkipping) {
      queue.skip(1);
      return;
    }
    var item = new EventQueue.Event(new EventId(log.run(), batch.first() + event.eventIndex()),
        json.of(event, incarnation));
    while (!queue.offer(item)) {
      if (log.isOld(batch)) {
        isSkipping = true;
        queue.skip(1);
        return;
      }
      queue.awaitRoom(POLL_MS);
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
