package io.lifeline.console.webhook;

import io.lifeline.console.events.EventQueue;
import io.lifeline.jobs.core.Timestamps;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The body of a request: {@code {"webhook": ID, "delivery": ID, "at": TIME, "skipped": N, "events": [...], "alerts":
 * [...]}}. Repeats of a delivery have the same id and body.
 *
 * @param items how many events and alerts it holds
 * @param skipped events for which the queue had no room
 */
record Delivery(String id, int items, long skipped, byte[] body) {

  static Delivery of(String webhook, String id, long nowNs, List<EventQueue.Item> waiting) {
    List<byte[]> events = new ArrayList<>();
    List<byte[]> alerts = new ArrayList<>();
    long skipped = 0;
    for (EventQueue.Item item : waiting) {
      if (item instanceof EventQueue.Event event) {
        events.add(event.json());
      } else if (item instanceof EventQueue.Alert alert) {
        alerts.add(alert.json());
      } else if (item instanceof EventQueue.Skipped some) {
        skipped += some.events();
      }
    }
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    text(body, "{\"webhook\":\"" + webhook + "\",\"delivery\":\"" + id + "\",\"at\":\"" + Timestamps.iso(nowNs)
        + "\",\"skipped\":" + skipped + ",\"events\":");
    array(body, events);
    text(body, ",\"alerts\":");
    array(body, alerts);
    text(body, "}");
    return new Delivery(id, events.size() + alerts.size(), skipped, body.toByteArray());
  }

  private static void array(ByteArrayOutputStream body, List<byte[]> documents) {
    String separator = "[";
    for (byte[] document : documents) {
      text(body, separator);
      body.writeBytes(document);
      separator = ",";
    }
    text(body, documents.isEmpty() ? "[]" : "]");
  }

  private static void text(ByteArrayOutputStream body, String text) {
    body.writeBytes(text.getBytes(StandardCharsets.UTF_8));
  }
}
