package io.lifeline.console.web;

import io.lifeline.console.access.Role;
import io.lifeline.console.webhook.Webhook;
import io.lifeline.console.webhook.Webhooks;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Notification: events and alerts that the console sends to URLs, from when the webhook is made. What is queued when
 * the console ends is not sent; a webhook that is kept in a file goes on with what arrives after the next start.
 */
public final class WebhookOperations implements Operations {
  private static final Parameter<String> ID = Parameter.matching("id", "id of a webhook", "^[0-9a-f]{16}$", id -> id)
      .ofPath();

  private final Webhooks webhooks;
  private final boolean hasBroker;

  public WebhookOperations(Webhooks webhooks, boolean hasBroker) {
    this.webhooks = webhooks;
    this.hasBroker = hasBroker;
  }

  @Override
  public List<Operation> all() {
    return List.of(
        Operation.post("/webhooks", "Send events or alerts to a URL from now on, with the header Lifeline-Signature:"
            + " t=SECONDS,v1=HEX, where HEX is HMAC-SHA256 of SECONDS.BODY with the secret", Wanted.class,
            Created.class, 201, this::add).needs(Role.ADMIN),
        Operation.get("/webhooks", "The webhooks, and what has become of their events", All.class,
            call -> new All(webhooks.list())).needs(Role.ADMIN),
        Operation.delete("/webhooks/{id}", "End a webhook; what it has queued is not sent", this::remove, ID)
            .needs(Role.ADMIN));
  }

  /**
   * A new webhook.
   *
   * @param type pattern of event types, * matches any text; null for no events
   * @param alerts whether alerts are sent; null for not
   * @param secret key of the signatures; null for a new one, which the answer has
   */
  record Wanted(String url, String type, String program, String host, String where, Boolean alerts, String secret)
      implements Audited {
    @Override
    public Map<String, Object> audited() {
      Map<String, Object> audited = new LinkedHashMap<>();
      audited.put("url", url == null ? null : Webhook.shown(url));
      audited.put("type", type);
      audited.put("alerts", alerts);
      return audited;
    }
  }

  /** @param secret only here: it is not shown again */
  record Created(String id, String secret) {}

  record All(List<Webhooks.Shown> webhooks) {}

  private Object add(Call call) {
    EventOperations.requireBroker(hasBroker);
    Wanted wanted = call.body(Wanted.class);
    try {
      Webhook added = webhooks.add(wanted.url(), wanted.type(), wanted.program(), wanted.host(), wanted.where(),
          Boolean.TRUE.equals(wanted.alerts()), wanted.secret());
      return new Created(added.id(), added.secret());
    } catch (IllegalArgumentException e) {
      throw new Problem(400, e.getMessage());
    } catch (IllegalStateException e) {
      throw new Problem(409, e.getMessage());
    } catch (IOException e) {
      throw notKept(e);
    }
  }

  private Object remove(Call call) {
    try {
      if (!webhooks.remove(call.get(ID))) {
        throw new Problem(404, "there is no webhook " + call.get(ID) + ": GET /webhooks lists them");
      }
      return null;
    } catch (IOException e) {
      throw notKept(e);
    }
  }

  private static Problem notKept(IOException e) {
    return new Problem(503, "nothing was changed, since the file of --webhooks cannot be written: " + e);
  }
}
