package io.lifeline.console.webhook;

import io.lifeline.console.alerts.AlertMessage;
import io.lifeline.jobs.core.live.LiveMessages;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands alerts that jobs raise or clear to the webhooks, each and in order, on a thread of its own. It reads from the
 * time when a webhook wants alerts; those raised before are not handed on.
 */
public final class AlertWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AlertWatch.class);
  private static final Duration STEP = Duration.ofMillis(200);
  /** How long a new webhook waits for the broker. */
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

  private final Supplier<LiveMessages> alerts;
  private final Webhooks webhooks;
  private final Thread thread = new Thread(this::run, "lifeline-alerts");
  private boolean hasWarned; // of the thread
  /** Whether all alerts that arrive from now on are handed on. Guarded by this. */
  private boolean isFollowing;
  /** Why the broker's alerts cannot be read; null if all is well. Guarded by this. */
  private String trouble;

  /** @param alerts opens the alerts that arrive from then on */
  public AlertWatch(Supplier<LiveMessages> alerts, Webhooks webhooks) {
    this.alerts = alerts;
    this.webhooks = webhooks;
    webhooks.onAlertsWanted(this::awaitFollowing);
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    try {
      while (true) {
        awaitWanted();
        try (LiveMessages messages = alerts.get()) {
          follow(messages);
        } catch (RuntimeException e) { // of a connection that cannot be opened or closed
          report(false, e.toString());
          Thread.sleep(STEP.toMillis());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void awaitWanted() throws InterruptedException {
    while (!webhooks.wantAlerts()) {
      wait();
    }
  }

  private void follow(LiveMessages messages) throws InterruptedException {
    boolean isAtEnd = false;
    while (isWanted()) {
      try {
        LiveMessages.Message message = messages.next(STEP);
        if (message != null && message.data().length > 0) { // a record that only deletes its key is empty
          send(message.data());
        }
        isAtEnd = isAtEnd || messages.trouble() == null && messages.isCaughtUp();
        report(isAtEnd, messages.trouble());
      } catch (RuntimeException e) {
        report(isAtEnd, e.toString());
        Thread.sleep(STEP.toMillis());
      }
    }
  }

  /** What is no alert would be a part of a body that the console signs. */
  private void send(byte[] message) {
    if (AlertMessage.members(message) != null) {
      webhooks.alert(message);
    } else if (!hasWarned) {
      hasWarned = true;
      LOG.warn("messages among the alerts that are not JSON objects of at most 64 KiB are not sent to webhooks");
    }
  }

  /** A webhook that is added after the last one finds that nobody follows, and waits for the next reader. */
  private synchronized boolean isWanted() {
    boolean isWanted = webhooks.wantAlerts();
    isFollowing = isFollowing && isWanted;
    trouble = isWanted ? trouble : null;
    return isWanted;
  }

  private synchronized void report(boolean isAtEnd, String why) {
    if (why != null && !why.equals(trouble)) {
      LOG.warn("alerts for webhooks cannot be read: {}", why);
    }
    trouble = why;
    isFollowing = isAtEnd;
    notifyAll();
  }

  private synchronized void awaitFollowing() {
    notifyAll();
    long deadlineNs = System.nanoTime() + PATIENCE_NS;
    try {
      while (!isFollowing && trouble == null && deadlineNs - System.nanoTime() > 0) {
        TimeUnit.NANOSECONDS.timedWait(this, deadlineNs - System.nanoTime());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
