package io.lifeline.console.webhook;

import io.lifeline.console.events.EventLog;
import io.lifeline.console.events.EventQueue;
import io.lifeline.console.events.Start;
import io.lifeline.console.events.Subscription;
import io.lifeline.jobs.core.Timestamps;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends what a webhook selects to its target, one batch after the other, on a thread of its own. An attempt succeeds if
 * the target answers 2xx in time; redirects are not followed, and fail.
 */
final class WebhookSender implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WebhookSender.class);
  private static final int QUEUE_BYTES = 1 << 20;
  private static final int BATCH_BYTES = 256 << 10;
  private static final long PACE_MS = 200;
  private static final int LONGEST_ERROR = 300;

  private final Webhook webhook;
  private final String run;
  private final HttpClient http;
  private final DeliveryLimits limits;
  private final Targets targets;
  private final EventQueue queue = new EventQueue(QUEUE_BYTES);
  private final Subscription subscription;
  private final Thread thread = new Thread(this::run, "lifeline-webhook");
  private long deliveries;

  // Guarded by this.
  private String state = "waiting";
  private long delivered;
  private int inFlight;
  private long failedAttempts;
  private long droppedAfterRetries;
  private long droppedForRoom;
  private String lastError;
  private String lastErrorAt;
  private String lastDeliveryAt;

  WebhookSender(Webhook webhook, EventLog log, HttpClient http, DeliveryLimits limits, Targets targets) {
    this.targets = targets;
    this.webhook = webhook;
    this.run = log.run();
    this.http = http;
    this.limits = limits;
    this.subscription =
        webhook.filter() == null ? null : Subscription.start(log, webhook.filter(), Start.NOW, queue);
    thread.setDaemon(true);
    thread.start();
  }

  Webhook webhook() {
    return webhook;
  }

  /** Queues an alert if the webhook gets them. */
  void alert(byte[] json) {
    if (webhook.alerts() && !queue.offer(new EventQueue.Alert(json))) {
      synchronized (this) {
        droppedForRoom++;
      }
    }
  }

  synchronized WebhookState state() {
    return new WebhookState(state, delivered, queue.count() + inFlight, failedAttempts, droppedAfterRetries,
        droppedForRoom, lastError, lastErrorAt, lastDeliveryAt);
  }

  private void run() {
    try {
      while (!Thread.currentThread().isInterrupted()) {
        queue.awaitItem();
        if (queue.size() < BATCH_BYTES) {
          Thread.sleep(PACE_MS); // what arrives meanwhile is sent together
        }
        List<EventQueue.Item> waiting = queue.take(BATCH_BYTES, 0);
        deliver(Delivery.of(webhook.id(), webhook.id() + "-" + run + "-" + ++deliveries, nowNs(), waiting));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A fault of the console costs one delivery, and not the webhook. */
  private void deliver(Delivery delivery) throws InterruptedException {
    try {
      send(delivery);
    } catch (RuntimeException e) {
      LOG.error("webhook {}: {} events are dropped", webhook.id(), delivery.items(), e);
      failed("the console failed: " + e);
      drop(delivery);
    }
  }

  private void send(Delivery delivery) throws InterruptedException {
    begin(delivery);
    for (int attempt = 1; true; attempt++) {
      String error = attempt(delivery);
      if (error == null) {
        succeeded(delivery);
        return;
      }
      failed(error);
      if (attempt == limits.attempts()) {
        LOG.warn("webhook {}: {} events are dropped after {} attempts: {}", webhook.id(), delivery.items(), attempt,
            error);
        drop(delivery);
        return;
      }
      Thread.sleep(limits.pauseMs(attempt));
    }
  }

  /** Returns why the attempt failed; null if it succeeded. */
  private String attempt(Delivery delivery) throws InterruptedException {
    String refusal = targets.refusal(URI.create(webhook.url()));
    if (refusal != null) {
      return refusal;
    }
    HttpRequest request = HttpRequest.newBuilder(URI.create(webhook.url()))
        .header("Content-Type", "application/json")
        .header("User-Agent", "lifeline-console")
        .header("Lifeline-Delivery", delivery.id())
        .header(Signature.HEADER,
            Signature.of(webhook.secret(), System.currentTimeMillis() / 1000, delivery.body()))
        .POST(BodyPublishers.ofByteArray(delivery.body()))
        .build();
    CompletableFuture<HttpResponse<Void>> answer = http.sendAsync(request, BodyHandlers.discarding());
    try {
      int status = answer.get(limits.timeout().toMillis(), TimeUnit.MILLISECONDS).statusCode();
      return status / 100 == 2 ? null : "the target answered " + status + (status / 100 == 3
          ? ": redirects are not followed, so give the final URL" : "");
    } catch (TimeoutException e) {
      return "the target did not answer within " + limits.timeout().toMillis() + " ms";
    } catch (ExecutionException e) {
      String cause = e.getCause().toString();
      return "the target cannot be reached: " + cause.substring(0, Math.min(cause.length(), LONGEST_ERROR));
    } finally {
      answer.cancel(true); // also closes the connection of a target that hangs
    }
  }

  private synchronized void begin(Delivery delivery) {
    state = "sending";
    inFlight = delivery.items();
    droppedForRoom += delivery.skipped();
  }

  private synchronized void succeeded(Delivery delivery) {
    state = "waiting";
    inFlight = 0;
    delivered += delivery.items();
    lastDeliveryAt = Timestamps.iso(nowNs());
  }

  private synchronized void failed(String error) {
    state = "retrying";
    failedAttempts++;
    lastError = error;
    lastErrorAt = Timestamps.iso(nowNs());
  }

  private synchronized void drop(Delivery delivery) {
    state = "waiting";
    inFlight = 0;
    droppedAfterRetries += delivery.items();
  }

  private static long nowNs() {
    return TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
  }

  @Override
  public void close() {
    if (subscription != null) {
      subscription.close();
    }
    thread.interrupt();
  }
}
