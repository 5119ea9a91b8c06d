package io.lifeline.console.webhook;

import io.lifeline.console.events.EventLog;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The webhooks of this console. Thread-safe. */
public final class Webhooks implements AutoCloseable {
  public static final int MOST = 50;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final EventLog log;
  private final WebhookFile file;
  private final DeliveryLimits limits;
  private final Targets targets;
  private final HttpClient http;
  private final Map<String, WebhookSender> senders = new LinkedHashMap<>();
  private volatile Runnable alertsWanted = () -> {};

  /**
   * Starts the webhooks of the file.
   *
   * @param path where webhooks are kept; null for only in memory
   * @param targets where they may be sent to
   */
  public Webhooks(EventLog log, Path path, DeliveryLimits limits, Targets targets) throws IOException {
    this.targets = targets;
    this.log = log;
    this.file = path == null ? null : new WebhookFile(path);
    this.limits = limits;
    this.http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
        .followRedirects(HttpClient.Redirect.NEVER).connectTimeout(limits.timeout()).build();
    if (file != null) {
      file.read().forEach(this::start);
    }
  }

  /** A webhook as others may see it: without its secret, and without the path of its URL, which may hold another. */
  public record Shown(String id, String url, String type, String program, String host, String where, boolean alerts,
      WebhookState deliveries) {}

  /** Sets what is done before {@link #add} returns a webhook that gets alerts. */
  void onAlertsWanted(Runnable action) {
    alertsWanted = action;
  }

  /**
   * Adds a webhook and starts it: it gets what comes after the return.
   *
   * @param secret null for a new one
   * @throws IllegalArgumentException if an argument is not valid, with the reason
   * @throws IllegalStateException if there are too many
   * @throws IOException if it cannot be kept
   */
  public Webhook add(String url, String type, String program, String host, String where, boolean alerts,
      String secret) throws IOException {
    Webhook webhook = new Webhook(newId(), url, type, program, host, where, alerts,
        secret == null ? Signature.newSecret() : secret);
    String refusal = targets.refusal(URI.create(url));
    if (refusal != null) {
      throw new IllegalArgumentException(refusal);
    }
    add(webhook);
    if (alerts) {
      alertsWanted.run(); // without the lock: it asks the broker
    }
    return webhook;
  }

  private synchronized void add(Webhook webhook) throws IOException {
    if (senders.size() >= MOST) {
      throw new IllegalStateException("there are " + MOST + " webhooks already: delete one first");
    }
    List<Webhook> all = kept();
    all.add(webhook);
    keep(all);
    start(webhook);
  }

  /** Returns all, oldest first. */
  public synchronized List<Shown> list() {
    return senders.values().stream().map(Webhooks::shown).toList();
  }

  private static Shown shown(WebhookSender sender) {
    Webhook webhook = sender.webhook();
    return new Shown(webhook.id(), Webhook.shown(webhook.url()), webhook.type(), webhook.program(),
        webhook.host(), webhook.where(), webhook.alerts(), sender.state());
  }

  /**
   * Ends a webhook; what it has queued is not sent. Returns false if there is none with that id.
   *
   * @throws IOException if the file cannot be written; then the webhook goes on
   */
  public synchronized boolean remove(String id) throws IOException {
    if (!senders.containsKey(id)) {
      return false;
    }
    List<Webhook> others = kept();
    others.removeIf(webhook -> webhook.id().equals(id));
    keep(others);
    senders.remove(id).close();
    return true;
  }

  /** Returns whether some webhook gets alerts. */
  synchronized boolean wantAlerts() {
    return senders.values().stream().anyMatch(sender -> sender.webhook().alerts());
  }

  /** Sends an alert to those that get them. */
  synchronized void alert(byte[] json) {
    senders.values().forEach(sender -> sender.alert(json));
  }

  private void start(Webhook webhook) {
    senders.put(webhook.id(), new WebhookSender(webhook, log, http, limits, targets));
  }

  private List<Webhook> kept() {
    return new ArrayList<>(senders.values().stream().map(WebhookSender::webhook).toList());
  }

  private void keep(List<Webhook> webhooks) throws IOException {
    if (file != null) {
      file.write(webhooks);
    }
  }

  private static String newId() {
    return HexFormat.of().toHexDigits(RANDOM.nextLong());
  }

  @Override
  public synchronized void close() {
    senders.values().forEach(WebhookSender::close);
  }
}
