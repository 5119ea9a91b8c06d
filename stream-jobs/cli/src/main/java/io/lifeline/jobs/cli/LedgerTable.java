package io.lifeline.jobs.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.lifeline.jobs.core.Terminal;
import io.lifeline.jobs.core.TextTable;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** Prints the ledger as a table, with a summary line. */
final class LedgerTable {

  private static final List<String> NAMES = List.of("host", "program", "pid", "incarnation", "route", "state");
  private static final List<String> NUMBERS =
      List.of("emitted", "received", "archived", "in_flight", "dropped", "expired", "not_archived", "missing",
          "duplicated");

  private LedgerTable() {}

  static void print(List<JsonNode> balances, PrintWriter out) {
    List<List<String>> rows = new ArrayList<>();
    List<String> titles = new ArrayList<>(NAMES);
    titles.addAll(NUMBERS);
    rows.add(titles);
    for (JsonNode balance : balances) {
      List<String> row = new ArrayList<>();
      titles.forEach(column -> row.add(cell(column, balance.path(column))));
      rows.add(row);
    }
    TextTable.print(rows, NAMES.size(), out);
    StringBuilder total = new StringBuilder("ledger:");
    for (String column : NUMBERS) {
      long sum = balances.stream().mapToLong(balance -> balance.path(column).asLong()).sum();
      boolean known = balances.stream().noneMatch(balance -> balance.path(column).isNull());
      total.append(' ').append(column).append('=').append(known ? Long.toString(sum) : "unknown");
    }
    out.println(total);
  }

  /** Shortens an incarnation to its first digits, which identify it. */
  private static String cell(String column, JsonNode value) {
    String text = value.isNull() || value.isMissingNode() ? "-" : value.asText();
    return column.equals("incarnation")
        ? text.substring(0, Math.min(8, text.length())) : Terminal.printable(text);
  }
}
