package io.lifeline.console.web;

import io.lifeline.console.alerts.AlertMessage;
import io.lifeline.jobs.core.Destination;
import io.lifeline.jobs.core.JobHost.HostException;
import io.lifeline.jobs.core.Upserts;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The alerts that jobs have published, with their evidence. */
public final class AlertOperations implements Operations {
  private static final int MOST_ALERTS = 500;
  /** Members with a column of their own; what ends with _ns says a time a second time. */
  private static final Set<String> COLUMNS =
      Set.of("alert", "state", "group", "subject", "reason", "since", "at", "since_ns", "at_ns");
  private static final Parameter<Boolean> ALL = Parameter.truth("all", "also cleared alerts");

  private final Upserts upserts;

  /** @param upserts null without a broker */
  public AlertOperations(Upserts upserts) {
    this.upserts = upserts;
  }

  @Override
  public List<Operation> all() {
    return List.of(Operation.get("/alerts", "Alerts with their evidence, active ones first, then newest first",
        Alerts.class, this::alerts, ALL));
  }

  /**
   * An alert.
   *
   * @param alert its name, that of the job which raised it
   * @param state {@code on} as long as it has not been cleared
   * @param since time of ISO 8601 from which it holds; like all texts, what its publisher wrote; null if it is missing
   * @param at time of the deciding sample
   * @param evidence all its other members
   */
  record Alert(String alert, String state, String group, String subject, String reason, String since, String at,
      Map<String, Object> evidence) {}

  /**
   * The alerts.
   *
   * @param active all that are on, of which the rows are the first
   * @param unreadable messages that are not alerts in JSON, or longer than 64 KiB
   */
  record Alerts(int active, int cleared, int unreadable, List<Alert> rows) {}

  private Alerts alerts(Call call) {
    if (upserts == null) {
      throw new Problem(409, "this console has no broker, and jobs publish alerts at one: start it with --broker");
    }
    List<Map<String, Object>> readable = new ArrayList<>();
    int unreadable = 0;
    for (byte[] message : latest()) {
      Map<String, Object> alert = AlertMessage.members(message);
      if (alert == null) {
        unreadable++;
      } else {
        readable.add(alert);
      }
    }
    readable.sort(Comparator.comparing((Map<String, Object> alert) -> !isOn(alert))
        .thenComparing(AlertOperations::atNs, Comparator.reverseOrder()));
    int active = (int) readable.stream().filter(AlertOperations::isOn).count();
    boolean all = call.get(ALL);
    return new Alerts(active, readable.size() - active, unreadable, readable.stream()
        .filter(alert -> all || isOn(alert)).limit(MOST_ALERTS).map(AlertOperations::alert).toList());
  }

  private Iterable<byte[]> latest() {
    try {
      return upserts.latest(Destination.ALERTS).values();
    } catch (HostException e) {
      throw new Problem(503, "the alerts cannot be read: " + e.getMessage());
    }
  }

  private static boolean isOn(Map<String, Object> alert) {
    return "on".equals(alert.get("state"));
  }

  private static long atNs(Map<String, Object> alert) {
    return alert.get("at_ns") instanceof Number time ? time.longValue() : 0;
  }

  private static Alert alert(Map<String, Object> members) {
    Map<String, Object> evidence = new LinkedHashMap<>(members);
    evidence.keySet().removeAll(COLUMNS);
    return new Alert(text(members, "alert"), text(members, "state"), text(members, "group"), text(members, "subject"),
        text(members, "reason"), text(members, "since"), text(members, "at"), evidence);
  }

  private static String text(Map<String, Object> members, String name) {
    Object value = members.get(name);
    return value == null ? null : value.toString();
  }
}
