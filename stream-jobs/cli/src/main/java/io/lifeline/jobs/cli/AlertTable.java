package io.lifeline.jobs.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.lifeline.jobs.core.Terminal;
import io.lifeline.jobs.core.TextTable;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** Prints alerts as a table, with their number. */
final class AlertTable {

  private static final List<String> COLUMNS = List.of("state", "alert", "group", "subject", "reason", "since", "at");

  private AlertTable() {}

  static void print(List<JsonNode> alerts, PrintWriter out) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(COLUMNS);
    for (JsonNode alert : alerts) {
      rows.add(COLUMNS.stream().map(column -> Terminal.printable(alert.path(column).asText("-"))).toList());
    }
    TextTable.print(rows, COLUMNS.size(), out);
    out.println("alerts: on=" + alerts.stream().filter(AlertTable::isOn).count());
  }

  static boolean isOn(JsonNode alert) {
    return alert.path("state").asText().equals("on");
  }
}
