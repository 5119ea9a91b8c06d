package io.lifeline.console.webhook;

import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.Upserts;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands alerts that jobs raise or clear to the webhooks, on a thread of its own. It looks for the first time when a
 * webhook wants alerts; those raised before are not handed on.
 */
public final class AlertWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AlertWatch.class);

  private final Upserts upserts;
  private final Webhooks webhooks;
  private final long paceMs;
  private final Thread thread = new Thread(this::run, "lifeline-alerts");
  private String logged;
  /** What the last look has found; null while nobody asks. Guarded by this. */
  private Map<String, byte[]> known;

  /** @param paceMs between two looks at the broker */
  public AlertWatch(Upserts upserts, Webhooks webhooks, long paceMs) {
    this.upserts = upserts;
    this.webhooks = webhooks;
    this.paceMs = paceMs;
    webhooks.onAlertsWanted(this::look);
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    try {
      while (true) {
        look();
        TimeUnit.MILLISECONDS.sleep(paceMs);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void look() {
    if (!webhooks.wantAlerts()) {
      known = null;
      return;
    }
    try {
      Map<String, byte[]> now = upserts.latest(Destination.ALERTS);
      if (known != null) {
        now.forEach((key, alert) -> {
          if (!Arrays.equals(alert, known.get(key))) {
            webhooks.alert(alert);
          }
        });
      }
      logged = null;
      known = new HashMap<>(now);
    } catch (HostException | RuntimeException e) {
      if (!e.toString().equals(logged)) {
        LOG.warn("alerts for webhooks cannot be read: {}", e.getMessage());
        logged = e.toString();
      }
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
