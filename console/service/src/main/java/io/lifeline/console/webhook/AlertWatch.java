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

/** Hands alerts that jobs raise or clear to the webhooks, on a thread of its own; those raised before it has
 * looked for the first time are not. */
public final class AlertWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AlertWatch.class);

  private final Upserts upserts;
  private final Webhooks webhooks;
  private final long paceMs;
  private final Thread thread = new Thread(this::run, "lifeline-alerts");
  private String logged;

  /** @param paceMs between two looks at the broker */
  public AlertWatch(Upserts upserts, Webhooks webhooks, long paceMs) {
    this.upserts = upserts;
    this.webhooks = webhooks;
    this.paceMs = paceMs;
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    Map<String, byte[]> known = null; // null while nobody asks
    try {
      while (true) {
        known = webhooks.wantAlerts() ? look(known) : null;
        TimeUnit.MILLISECONDS.sleep(paceMs);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Map<String, byte[]> look(Map<String, byte[]> known) {
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
      return new HashMap<>(now);
    } catch (HostException | RuntimeException e) {
      if (!e.toString().equals(logged)) {
        LOG.warn("alerts for webhooks cannot be read: {}", e.getMessage());
        logged = e.toString();
      }
      return known;
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
